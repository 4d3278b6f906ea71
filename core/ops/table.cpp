// The operators known: rows of text, parsed when first asked for.
//
// Most out forms are not rows: they are derived from the functional schema, since torch's own are
// formed so too.
#include <algorithm>
#include <cassert>
#include <mutex>

#include "ops/schema.hpp"

namespace backplane::ops {
namespace {

constexpr std::string_view kGenerated[] = {
#include "ops/table.inc"
};

// Operators of ExecuTorch's programs that the host runs itself, in the same form.
constexpr std::string_view kHostOperators[] = {
    R"(dim_order_ops::_clone_dim_order(Tensor self, *, bool non_blocking=False, int[]? dim_order=None) -> Tensor
dim_order_ops::_empty_dim_order(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, int[]? dim_order=None) -> Tensor		=out
dim_order_ops::_empty_dim_order.out(SymInt[] size, *, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)
dim_order_ops::_to_dim_order_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, int[]? dim_order=None) -> Tensor		=out
dim_order_ops::_to_dim_order_copy.out(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)
et_copy::_d2h_copy(Tensor self) -> Tensor
et_copy::_h2d_copy(Tensor self) -> Tensor
executorch_prim::add.Scalar(Scalar a, Scalar b) -> Scalar	n
executorch_prim::ceil.Scalar(Scalar a) -> Scalar	n
executorch_prim::eq.Scalar(Scalar a, Scalar b) -> bool	n
executorch_prim::et_copy_index.tensor(Tensor(a!) copy_to, Tensor copy_from, SymInt index) -> Tensor(a!)
executorch_prim::et_view.default(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
executorch_prim::floordiv.Scalar(Scalar a, Scalar b) -> Scalar	n
executorch_prim::floordiv.int(SymInt a, SymInt b) -> SymInt	n
executorch_prim::ge.Scalar(Scalar a, Scalar b) -> bool	n
executorch_prim::gt.Scalar(Scalar a, Scalar b) -> bool	n
executorch_prim::le.Scalar(Scalar a, Scalar b) -> bool	n
executorch_prim::lt.Scalar(Scalar a, Scalar b) -> bool	n
executorch_prim::mod.Scalar(SymInt a, SymInt b) -> SymInt	n
executorch_prim::mod.int(SymInt a, SymInt b) -> SymInt	n
executorch_prim::mul.Scalar(Scalar a, Scalar b) -> Scalar	n
executorch_prim::neg.Scalar(Scalar a) -> Scalar	n
executorch_prim::round.Scalar(Scalar a) -> Scalar	n
executorch_prim::sub.Scalar(Scalar a, Scalar b) -> Scalar	n
executorch_prim::sym_float.Scalar(Scalar a) -> Scalar	n
executorch_prim::sym_int.Scalar(Scalar a) -> Scalar	n
executorch_prim::sym_ite.Scalar(Scalar a, Scalar b, Scalar c) -> Scalar	n
executorch_prim::sym_max.Scalar(Scalar a, Scalar b) -> Scalar	n
executorch_prim::sym_min.Scalar(Scalar a, Scalar b) -> Scalar	n
executorch_prim::sym_not.Scalar(Scalar a) -> bool	n
executorch_prim::truediv.Scalar(Scalar a, Scalar b) -> Scalar	n
executorch_prim::trunc.Scalar(Scalar a) -> Scalar	n)",
};

struct Row {
  std::string_view schema;
  std::string_view flags;
  std::string_view out;
  std::string_view functional;
};

Row split_row(std::string_view line) {
  Row row;
  for (std::string_view* field : {&row.schema, &row.flags, &row.out, &row.functional}) {
    *field = line.substr(0, line.find('\t'));
    line.remove_prefix(std::min(field->size() + 1, line.size()));
  }
  return row;
}

std::string qualified(std::string_view name) {
  return name.find("::") == std::string_view::npos ? "aten::" + std::string(name)
                                                   : std::string(name);
}

struct SplitName {
  std::string_view base;
  std::string_view overload;  // empty: the default one
};
SplitName split_name(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {name, {}};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string join_name(std::string_view base, std::string_view overload) {
  std::string result(base);
  if (!overload.empty()) result.append(".").append(overload);
  return result;
}

std::string out_name(std::string_view functional, std::string_view out_field) {
  const auto [base, overload] = split_name(functional);
  if (!out_field.empty()) return join_name(base, out_field.substr(out_field[0] == '=' ? 1 : 0));
  return join_name(base, overload.empty() ? "out" : std::string(overload) + "_out");
}

bool has_outs(const Schema& schema) {
  return std::any_of(schema.parameters.begin(), schema.parameters.end(),
                     [](const Parameter& p) { return p.is_out; });
}

bool returns_tensors_only(const Schema& schema) {
  return !schema.returns.empty() &&
         std::all_of(schema.returns.begin(), schema.returns.end(),
                     [](const Return& r) { return r.kind == Kind::tensor; });
}

// The functional schema plus an output for each result.
Schema derive_out(const Schema& functional) {
  Schema result;
  result.name = functional.out;
  result.random = functional.random;
  result.parameters = functional.parameters;
  for (Parameter& parameter : result.parameters) parameter.alias = 0;
  const size_t count = functional.returns.size();
  const bool lists = std::any_of(functional.returns.begin(), functional.returns.end(),
                                 [](const Return& r) { return r.list; });
  for (size_t i = 0; i < count; ++i) {
    const Return& from = functional.returns[i];
    Parameter out;
    out.name = count == 1 ? "out" : "out" + std::to_string(i);
    out.kind = from.kind;
    out.list = from.list;
    out.keyword_only = out.written = out.is_out = true;
    out.alias = static_cast<char>('a' + i);
    if (!lists) result.returns.push_back({from.kind, false, out.alias, true});
    result.parameters.push_back(std::move(out));
  }
  return result;
}

// The schema that an out form serves: itself without its outputs.
Schema derive_functional(const Schema& out_form, std::string name) {
  Schema result;
  result.name = std::move(name);
  result.out = out_form.name;
  result.random = out_form.random;
  for (const Parameter& parameter : out_form.parameters) {
    if (parameter.is_out) {
      result.returns.push_back({parameter.kind, parameter.list, 0, false});
    } else {
      result.parameters.push_back(parameter);
    }
  }
  return result;
}

// "add" serves "add.out", "add.Scalar" "add.Scalar_out"; nothing for other overloads.
std::optional<std::string> served_by(std::string_view out_form) {
  constexpr std::string_view kSuffix = "_out";
  auto [base, overload] = split_name(out_form);
  if (overload == "out") return std::string(base);
  if (!overload.ends_with(kSuffix)) return std::nullopt;
  overload.remove_suffix(kSuffix.size());
  return join_name(base, overload);
}

}  // namespace

int Schema::index_of(std::string_view parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return static_cast<int>(i);
  }
  return -1;
}

bool Schema::mutates() const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const Parameter& p) { return p.written; });
}

struct Table::Impl {
  struct Entry {
    std::string_view line;           // its row, or the row of the functional form
    bool derived = false;            // to be made from that row's schema
    std::unique_ptr<Schema> schema;  // once asked for
  };

  mutable std::mutex mutex;
  std::unordered_map<std::string, Entry> entries;

  Impl() {
    for (const std::string_view chunk : kGenerated) index_rows(chunk);
    for (const std::string_view chunk : kHostOperators) index_rows(chunk);
  }

  void index_rows(std::string_view chunk) {
    while (!chunk.empty()) {
      const std::string_view line = chunk.substr(0, chunk.find('\n'));
      chunk.remove_prefix(std::min(line.size() + 1, chunk.size()));
      const Row row = split_row(line);
      const std::string name = qualified(row.schema.substr(0, row.schema.find('(')));
      entries[name] = {line, false, nullptr};
      const bool is_functional = row.functional.empty() &&
                                 row.schema.find("!)") == std::string_view::npos &&
                                 row.flags.find('n') == std::string_view::npos;
      if (is_functional && !row.out.starts_with('=')) {
        entries.try_emplace(out_name(name, row.out), Entry{line, true, nullptr});
      }
    }
  }

  static Schema parse_row(std::string_view line) {
    const Row row = split_row(line);
    Result<Schema> parsed = parse_schema(qualified(row.schema));
    assert(parsed.ok());  // each row is, by a test
    Schema schema = std::move(parsed).value();
    const auto has = [&](char flag) { return row.flags.find(flag) != std::string_view::npos; };
    const auto [base, overload] = split_name(schema.name);
    schema.core = has('c');
    schema.composite = has('i');
    schema.random = has('r');
    if (has('v')) schema.copy = join_name(std::string(base) + "_copy", overload);
    if (row.functional == "-") {
      schema.functional = join_name(base.substr(0, base.size() - 1), overload);
    } else if (!row.functional.empty()) {
      schema.functional = qualified(row.functional);
    }
    if (!schema.mutates() && !has('n')) schema.out = out_name(schema.name, row.out);
    return schema;
  }

  const Schema* find(const std::string& name) {
    const auto found = entries.find(name);
    if (found == entries.end()) return nullptr;
    Entry& entry = found->second;
    if (!entry.schema) {
      Schema schema = parse_row(entry.line);
      entry.schema =
          std::make_unique<Schema>(entry.derived ? derive_out(schema) : std::move(schema));
    }
    return entry.schema.get();
  }

  void insert(Schema schema) {
    std::string name = schema.name;
    entries.try_emplace(std::move(name),
                        Entry{{}, false, std::make_unique<Schema>(std::move(schema))});
  }
};

Table::Table() : impl_(std::make_unique<Impl>()) {}
Table::~Table() = default;

const Schema* Table::find(std::string_view name) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->find(std::string(name));
}

const Schema* Table::find_out(const Schema& functional) const {
  return functional.out.empty() ? nullptr : find(functional.out);
}

Status Table::add(std::string_view text) {
  BP_ASSIGN_OR_RETURN(Schema schema, parse_schema(text));
  const std::lock_guard lock(impl_->mutex);
  if (impl_->entries.contains(schema.name)) return Ok{};
  if (has_outs(schema)) {
    const std::optional<std::string> functional = served_by(schema.name);
    if (functional) impl_->insert(derive_functional(schema, *functional));
  } else if (!schema.mutates() && returns_tensors_only(schema)) {
    schema.out = out_name(schema.name, {});
    impl_->insert(derive_out(schema));
  }
  impl_->insert(std::move(schema));
  return Ok{};
}

std::vector<std::string_view> Table::names() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string_view> result;
  result.reserve(impl_->entries.size());
  for (const auto& [name, entry] : impl_->entries) result.push_back(name);
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace backplane::ops
