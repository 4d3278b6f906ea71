// Operators that hand their operand on: in a functional program a copy is the value itself.
#include <algorithm>
#include <array>
#include <numeric>

#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace backplane::passes {
namespace {

bool same_sizes(SymbolTable& symbols, std::span<const SymInt> a, std::span<const SymInt> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](SymInt x, SymInt y) { return x == y || symbols.known_eq(x, y) == true; });
}

class Noop {
 public:
  Noop(Rewriter& rewriter, const Node& node) : r_(rewriter), node_(node) {}

  // Which operand the only result is, if it is one.
  [[nodiscard]] std::optional<ValueRef> operand() const;

 private:
  [[nodiscard]] bool always() const { return true; }
  [[nodiscard]] bool same_dtype() const { return result().dtype == self().dtype; }
  [[nodiscard]] bool same_type() const {
    return same_dtype() && same_sizes(r_.symbols(), result().sizes, self().sizes);
  }
  [[nodiscard]] bool evaluates() const { return !args().flag("train") || args().number("p") == 0; }
  [[nodiscard]] bool native_evaluates() const {
    return node_.args[2].value == Argument(false) && node_.outputs.size() == 1;
  }
  [[nodiscard]] bool takes_all() const {
    return args().raw("step") == Argument(int64_t{1}) && same_type();
  }
  [[nodiscard]] bool keeps_order() const {
    const std::vector<int64_t> dims = args().integers("dims");
    for (size_t i = 0; i < dims.size() && r_.ok(); ++i) {
      if (r_.wrap_dim(dims[i], static_cast<int64_t>(dims.size())) != static_cast<int64_t>(i)) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool same_dims() const {
    const auto rank = static_cast<int64_t>(self().sizes.size());
    return r_.wrap_dim(args().integer("dim0"), rank) == r_.wrap_dim(args().integer("dim1"), rank);
  }
  [[nodiscard]] bool matrix_below_2() const { return self().sizes.size() < 2; }
  [[nodiscard]] bool dense_strides() const;
  [[nodiscard]] bool pads_nothing() const {
    const std::vector<SymInt> pad = args().sizes("pad");
    return std::all_of(pad.begin(), pad.end(), [](SymInt p) { return p == SymInt(0); });
  }

  struct Rule {
    std::string_view op;
    bool (Noop::*holds)() const;
  };
  static const std::array<Rule, 41> kRules;

  [[nodiscard]] NodeArgs args() const { return r_.args(node_); }
  [[nodiscard]] const TensorType& self() const {
    return r_.type(std::get<ValueRef>(node_.args[0].value));
  }
  [[nodiscard]] const TensorType& result() const { return r_.type(ValueRef{node_.outputs[0]}); }

  Rewriter& r_;
  const Node& node_;
};

// as_strided sees a row-major tensor: does it show all of it in order?
bool Noop::dense_strides() const {
  const Argument& offset = args().raw("storage_offset");
  const bool from_start = offset == Argument(None{}) || offset == Argument(int64_t{0});
  if (!from_start || !same_type()) return false;
  const TensorType as = {self().dtype, args().sizes("size"), args().sizes("stride")};
  return r_.ok() && is_contiguous(r_.symbols(), as);
}

const std::array<Noop::Rule, 41> Noop::kRules = {{
    {"aten::_reshape_alias", &Noop::same_type},
    {"aten::_to_copy", &Noop::same_dtype},
    {"aten::_unsafe_view", &Noop::same_type},
    {"aten::alias", &Noop::always},
    {"aten::alias_copy", &Noop::always},
    {"aten::alpha_dropout", &Noop::evaluates},
    {"aten::as_strided", &Noop::dense_strides},
    {"aten::broadcast_to", &Noop::same_type},
    {"aten::clone", &Noop::always},
    {"aten::constant_pad_nd", &Noop::pads_nothing},
    {"aten::contiguous", &Noop::always},
    {"aten::detach", &Noop::always},
    {"aten::detach_copy", &Noop::always},
    {"aten::dropout", &Noop::evaluates},
    {"aten::expand", &Noop::same_type},
    {"aten::expand_as", &Noop::same_type},
    {"aten::expand_copy", &Noop::same_type},
    {"aten::feature_alpha_dropout", &Noop::evaluates},
    {"aten::feature_dropout", &Noop::evaluates},
    {"aten::flatten.using_ints", &Noop::same_type},
    {"aten::lift", &Noop::always},
    {"aten::lift_fresh", &Noop::always},
    {"aten::lift_fresh_copy", &Noop::always},
    {"aten::native_dropout", &Noop::native_evaluates},
    {"aten::permute", &Noop::keeps_order},
    {"aten::positive", &Noop::always},
    {"aten::reshape", &Noop::same_type},
    {"aten::reshape_as", &Noop::same_type},
    {"aten::resolve_conj", &Noop::always},
    {"aten::resolve_neg", &Noop::always},
    {"aten::slice.Tensor", &Noop::takes_all},
    {"aten::squeeze", &Noop::same_type},
    {"aten::squeeze.dim", &Noop::same_type},
    {"aten::squeeze.dims", &Noop::same_type},
    {"aten::t", &Noop::matrix_below_2},
    {"aten::to.device", &Noop::same_dtype},
    {"aten::to.dtype", &Noop::same_dtype},
    {"aten::to.dtype_layout", &Noop::same_dtype},
    {"aten::to.other", &Noop::same_dtype},
    {"aten::type_as", &Noop::same_dtype},
    {"aten::view", &Noop::same_type},
}};

std::optional<ValueRef> Noop::operand() const {
  if (node_.schema == nullptr || node_.outputs.size() != 1 || node_.outputs[0] == kNone) return {};
  if (node_.args.empty() || !std::holds_alternative<ValueRef>(node_.args[0].value)) return {};
  const ValueRef self = std::get<ValueRef>(node_.args[0].value);
  if (r_.graph().value(self.id).kind != ValueKind::tensor) return {};
  const auto rule = std::lower_bound(kRules.begin(), kRules.end(), std::string_view(node_.op),
                                     [](const Rule& a, std::string_view op) { return a.op < op; });
  const bool holds = rule != kRules.end() && rule->op == node_.op && (this->*rule->holds)();
  return holds ? std::optional(self) : std::nullopt;
}

}  // namespace

Status remove_noops(Module& module, const ops::Table& table) {
  for (const std::unique_ptr<Graph>& graph : module.graphs) {
    Rewriter r(module, *graph, table);
    BP_TRY(r.walk([&](Node& node) -> Status {
      const std::optional<ValueRef> operand = Noop(r, node).operand();
      BP_TRY(r.status());
      if (!operand) return r.keep(std::move(node));
      r.replace(node, *operand);
      return r.status();
    }));
    BP_TRY(r.finish());
  }
  return Ok{};
}

}  // namespace backplane::passes
