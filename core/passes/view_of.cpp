// Which operators give views, and of what. Written from PyTorch's documented behaviour of each.
#include <algorithm>
#include <array>

#include "passes/names.hpp"
#include "passes/view_steps.hpp"

namespace backplane::passes {
namespace {

using Kind = ViewStep::Kind;
using Relation = View::Relation;

struct Call {
  Rewriter& r;
  const Node& node;
  size_t output;
  std::optional<SymInt>& start;  // of split and the like: where this part begins

  [[nodiscard]] NodeArgs args() const { return r.args(node); }
  // The first operand, whatever it is called.
  [[nodiscard]] ValueRef self() const { return std::get<ValueRef>(node.args[0].value); }
  [[nodiscard]] const TensorType& type() const { return r.type(self()); }
  [[nodiscard]] const TensorType& result() const { return r.type(ValueRef{node.outputs[output]}); }
  [[nodiscard]] int64_t rank() const { return static_cast<int64_t>(type().sizes.size()); }
  [[nodiscard]] int64_t dim(std::string_view name) const {
    return r.wrap_dim(args().integer(name), rank());
  }

  [[nodiscard]] View same() const { return {Relation::same, self().id}; }
  [[nodiscard]] View unknown() const { return {Relation::unknown, self().id}; }
  [[nodiscard]] View step(ViewStep step) const {
    return {Relation::view, self().id, {std::move(step)}};
  }
  [[nodiscard]] View decided(std::optional<bool> in_place, View view) const {
    if (in_place == true) return view;
    return in_place ? View{} : unknown();
  }
};

View same(const Call& c) {
  return c.same();
}
View unknown(const Call& c) {
  return c.unknown();
}

View reshape(const Call& c) {
  if (c.result().sizes == c.type().sizes) return c.same();
  return c.step({Kind::reshape, {}, c.result().sizes});
}

View maybe_reshape(const Call& c) {
  return c.decided(can_reshape_in_place(c.r.symbols(), c.type(), c.result().sizes), reshape(c));
}

View view(const Call& c) {
  if (c.node.op == "aten::view.dtype") return c.step({Kind::bits, {c.result().dtype}, {}});
  return reshape(c);
}

View expand(const Call& c) {
  return c.step({Kind::expand, {}, c.result().sizes});
}

View contiguous(const Call& c) {
  const Argument& format = c.args().raw("memory_format");
  const auto* given = std::get_if<MemoryFormat>(&format);
  const MemoryFormat wanted = given != nullptr ? *given : MemoryFormat::contiguous;
  if (wanted == MemoryFormat::preserve) return c.same();
  return c.decided(has_format(c.r.symbols(), c.type(), wanted), c.same());
}

View convert(const Call& c) {
  if (c.result().dtype != c.type().dtype) return {};
  for (const NamedArgument& arg : c.node.args) {
    if (arg.name == "copy" && arg.value == Argument(true)) return {};
    const auto* format = std::get_if<MemoryFormat>(&arg.value);
    if (format == nullptr || *format == MemoryFormat::preserve) continue;
    return c.decided(has_format(c.r.symbols(), c.type(), *format), c.same());
  }
  return c.same();
}

// In evaluation, dropout hands its operand back.
View dropout(const Call& c) {
  const bool train = c.args().flag("train");
  return train && c.args().number("p") != 0 ? View{} : c.same();
}

View permuted(const Call& c, std::vector<int64_t> order) {
  IntList list;
  for (int64_t d : order) list.push_back({d, kNone});
  return c.step({Kind::permute, {std::move(list)}, {}});
}

std::vector<int64_t> identity(int64_t rank) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  return order;
}

View swapped(const Call& c, int64_t a, int64_t b) {
  if (c.rank() == 0 || !c.r.ok()) return c.same();
  std::vector<int64_t> order = identity(c.rank());
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return permuted(c, std::move(order));
}

View permute(const Call& c) {
  std::vector<int64_t> order = c.args().integers("dims");
  for (int64_t& d : order) d = c.r.wrap_dim(d, c.rank());
  if (static_cast<int64_t>(order.size()) != c.rank()) return c.unknown();
  return permuted(c, std::move(order));
}

View transpose(const Call& c) {
  return swapped(c, c.dim("dim0"), c.dim("dim1"));
}
View swapaxes(const Call& c) {
  return swapped(c, c.dim("axis0"), c.dim("axis1"));
}

View matrix_transpose(const Call& c) {
  if (c.rank() < 2) return c.same();
  return swapped(c, c.rank() - 2, c.rank() - 1);
}

View adjoint(const Call& c) {
  View view = matrix_transpose(c);
  if (is_complex(c.type().dtype)) {
    view.relation = Relation::view;
    view.steps.push_back({Kind::conj});
  }
  return view;
}

View reversed(const Call& c) {
  std::vector<int64_t> order = identity(c.rank());
  std::reverse(order.begin(), order.end());
  return permuted(c, std::move(order));
}

View movedim(const Call& c) {
  const std::vector<int64_t> from = c.args().integers("source");
  const std::vector<int64_t> to = c.args().integers("destination");
  std::vector<int64_t> order(static_cast<size_t>(c.rank()), -1);
  std::vector<bool> moved(order.size());
  for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    const int64_t source = c.r.wrap_dim(from[i], c.rank());
    const int64_t target = c.r.wrap_dim(to[i], c.rank());
    if (!c.r.ok() || order.empty()) return c.same();
    order[static_cast<size_t>(target)] = source;
    moved[static_cast<size_t>(source)] = true;
  }
  int64_t next = 0;
  for (int64_t& d : order) {
    if (d != -1) continue;
    while (next < c.rank() && moved[static_cast<size_t>(next)]) ++next;
    d = next++;
  }
  return permuted(c, std::move(order));
}

View select(const Call& c) {
  return c.step({Kind::select, {c.dim("dim"), c.args().raw("index")}, {}});
}

View slice(const Call& c) {
  return c.step({Kind::slice,
                 {c.dim("dim"), c.args().raw("start"), c.args().raw("end"), c.args().raw("step")},
                 {}});
}

View section(const Call& c, int64_t dim, SymInt start) {
  if (!c.r.ok() || c.result().sizes.empty()) return c.unknown();
  const SymInt end = c.r.symbols().add(start, c.result().sizes[static_cast<size_t>(dim)]);
  return c.step({Kind::section, {dim}, {start, end}});
}

View narrow(const Call& c) {
  if (!std::holds_alternative<int64_t>(c.args().raw("start"))) return c.unknown();
  const int64_t start = c.args().integer("start");
  const int64_t dim = c.dim("dim");
  if (!c.r.ok() || c.rank() == 0) return c.unknown();
  const SymInt size = c.type().sizes[static_cast<size_t>(dim)];
  return section(c, dim, start < 0 ? c.r.symbols().add(size, start) : SymInt(start));
}

View diagonal(const Call& c) {
  return c.step({Kind::diagonal, {c.args().integer("offset"), c.dim("dim1"), c.dim("dim2")}, {}});
}

View unbind(const Call& c) {
  return c.step({Kind::select, {c.dim("dim"), static_cast<int64_t>(c.output)}, {}});
}

// split, chunk and the like: parts lie one after the other along `dim`.
View parts_along(const Call& c, int64_t dim) {
  if (!c.r.ok() || c.rank() == 0 || !c.start) return c.unknown();
  View view = section(c, dim, *c.start);
  if (view.relation == Relation::view) c.start = view.steps[0].sizes[1];
  return view;
}

View split(const Call& c) {
  return parts_along(c, c.dim("dim"));
}
View hsplit(const Call& c) {
  return parts_along(c, c.rank() == 1 ? 0 : 1);
}
View vsplit(const Call& c) {
  return parts_along(c, 0);
}
View dsplit(const Call& c) {
  return parts_along(c, 2);
}

View real(const Call& c) {
  if (!is_complex(c.type().dtype)) return c.same();
  const int64_t index = c.node.op == "aten::imag" ? 1 : 0;
  View view = c.step({Kind::as_real});
  view.steps.push_back({Kind::select, {c.rank(), index}, {}});
  return view;
}

View as_real(const Call& c) {
  return c.step({Kind::as_real});
}
View as_complex(const Call& c) {
  return c.step({Kind::as_complex});
}
View negated(const Call& c) {
  return c.step({Kind::neg});
}
View conj(const Call& c) {
  return is_complex(c.type().dtype) ? c.step({Kind::conj}) : c.same();
}

// Each result is an expanded view of the operand at its place in the list.
View of_list(const Call& c) {
  const auto* list = std::get_if<ValueList>(&c.node.args[0].value);
  if (list == nullptr || c.output >= list->ids.size()) return {};
  const ValueRef operand{list->ids[c.output]};
  const TensorType& from = c.r.type(operand);
  View view{Relation::view, operand.id};
  if (base_name(c.node.op) == "meshgrid" && from.sizes.size() == 1) {
    std::vector<SymInt> sizes(c.result().sizes.size(), SymInt(1));
    size_t at = c.output;
    const auto* order = std::get_if<std::string>(&c.node.args.back().value);
    if (order != nullptr && *order == "xy" && at < 2 && sizes.size() >= 2) at = 1 - at;
    sizes[at] = from.sizes[0];
    view.steps.push_back({Kind::reshape, {}, std::move(sizes)});
  } else if (base_name(c.node.op).starts_with("atleast")) {
    view.steps.push_back({Kind::reshape, {}, c.result().sizes});
    return view;
  }
  view.steps.push_back({Kind::expand, {}, c.result().sizes});
  return view;
}

View einsum(const Call& c) {
  const auto* list = std::get_if<ValueList>(&c.node.args[1].value);
  if (list == nullptr || list->ids.size() != 1) return {};
  return {Relation::unknown, list->ids[0]};
}

View sum_to_size(const Call& c) {
  return c.result().sizes == c.type().sizes ? c.unknown() : View{};
}

struct Entry {
  std::string_view name;
  View (*view)(const Call&);
};

// Sorted by name.
constexpr std::array kEntries = {
    Entry{"H", adjoint},
    Entry{"T", reversed},
    Entry{"_conj", conj},
    Entry{"_neg_view", negated},
    Entry{"_reshape_alias", reshape},
    Entry{"adjoint", adjoint},
    Entry{"alias", same},
    Entry{"alpha_dropout", dropout},
    Entry{"atleast_1d", reshape},
    Entry{"atleast_2d", reshape},
    Entry{"atleast_3d", reshape},
    Entry{"broadcast_tensors", of_list},
    Entry{"broadcast_to", expand},
    Entry{"chunk", split},
    Entry{"conj", conj},
    Entry{"contiguous", contiguous},
    Entry{"detach", same},
    Entry{"diagonal", diagonal},
    Entry{"dropout", dropout},
    Entry{"dsplit", dsplit},
    Entry{"einsum", einsum},
    Entry{"expand", expand},
    Entry{"expand_as", expand},
    Entry{"feature_alpha_dropout", dropout},
    Entry{"feature_dropout", dropout},
    Entry{"flatten", maybe_reshape},
    Entry{"hsplit", hsplit},
    Entry{"imag", real},
    Entry{"lift", same},
    Entry{"lift_fresh", same},
    Entry{"linalg_diagonal", diagonal},
    Entry{"mH", adjoint},
    Entry{"mT", matrix_transpose},
    Entry{"matrix_H", adjoint},
    Entry{"meshgrid", of_list},
    Entry{"moveaxis", movedim},
    Entry{"movedim", movedim},
    Entry{"narrow", narrow},
    Entry{"numpy_T", reversed},
    Entry{"permute", permute},
    Entry{"positive", same},
    Entry{"ravel", maybe_reshape},
    Entry{"real", real},
    Entry{"requires_grad_", same},
    Entry{"reshape", maybe_reshape},
    Entry{"reshape_as", maybe_reshape},
    Entry{"resolve_conj", unknown},
    Entry{"resolve_neg", unknown},
    Entry{"select", select},
    Entry{"slice", slice},
    Entry{"split", split},
    Entry{"split_with_sizes", split},
    Entry{"squeeze", reshape},
    Entry{"sum_to_size", sum_to_size},
    Entry{"swapaxes", swapaxes},
    Entry{"swapdims", transpose},
    Entry{"t", matrix_transpose},
    Entry{"tensor_split", split},
    Entry{"to", convert},
    Entry{"transpose", transpose},
    Entry{"type_as", convert},
    Entry{"unbind", unbind},
    Entry{"unflatten", reshape},
    Entry{"unsqueeze", reshape},
    Entry{"view", view},
    Entry{"view_as", reshape},
    Entry{"view_as_complex", as_complex},
    Entry{"view_as_real", as_real},
    Entry{"vsplit", vsplit},
};

}  // namespace

std::vector<View> views_of(Rewriter& r, const Node& node) {
  std::vector<View> views(node.outputs.size());
  if (node.schema == nullptr || node.args.empty()) return views;
  const std::string_view name = base_name(node.op);
  const auto* entry =
      std::lower_bound(kEntries.begin(), kEntries.end(), name,
                       [](const Entry& e, std::string_view n) { return e.name < n; });
  const bool known =
      entry != kEntries.end() && entry->name == name && node.op.starts_with("aten::");
  const bool on_tensor = std::holds_alternative<ValueRef>(node.args[0].value);
  const bool on_list = name == "einsum" || std::holds_alternative<ValueList>(node.args[0].value);
  const bool may_alias =
      std::any_of(node.schema->returns.begin(), node.schema->returns.end(),
                  [](const ops::Return& result) { return result.alias != 0 && !result.written; });
  if (!known && !(may_alias && on_tensor)) return views;
  std::optional<SymInt> start = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    const ValueId id = node.outputs[i];
    if (id == kNone) start.reset();
    if (id == kNone || r.graph().value(id).kind != ValueKind::tensor) continue;
    const Call call{r, node, i, start};
    if (!known) {
      views[i] = call.unknown();
    } else if (on_list) {
      views[i] = name == "einsum" ? einsum(call) : of_list(call);
    } else if (on_tensor) {
      views[i] = entry->view(call);
    }
  }
  return views;
}

}  // namespace backplane::passes
