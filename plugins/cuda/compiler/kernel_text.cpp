#include "cuda/compiler/kernel_text.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace backplane::cuda::compiler {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kWarp = 32;
constexpr int64_t kLongestWarpRow = 1024;

class Writer {
 public:
  Writer(TensorGraph& g, TensorId id, ExprId element)
      : g_(g), ix_(g.indices()), sizes_(g.sizes()), id_(id), element_(element) {}

  KernelText write() {
    const Tensor target = g_.at(id_);
    is_wide_ = needs_wide();
    parameters_.push_back({ParameterKind::pointer, id_});
    signature_ = std::string(memory_type(target.dtype)) + "* __restrict__ out";
    const std::vector<ExprId> rows = row_reductions(g_, element_);
    scopes_.emplace_back();
    if (rows.empty()) {
      write_elements(target);
    } else {
      write_rows(target, rows);
    }
    out_.text = "extern \"C\" __global__ void __launch_bounds__(256) " +
                std::string(kNamePlaceholder) + "(" + signature_ +
                ") {\n  using Index = " + (is_wide_ ? "long long" : "int") + ";\n" + body_ + "}\n";
    out_.parameters = std::move(parameters_);
    out_.block = sizes_.constant(kThreads);
    return std::move(out_);
  }

 private:
  // Whether an index may pass 31 bits.
  bool needs_wide() {
    bool wide = sizes_.bound(g_.elements(g_.at(id_).shape)) >= INT32_MAX - 4096;
    visit(g_.exprs(), element_, [&](ExprId e) {
      const Expr expr = g_.exprs().at(e);
      if (expr.kind != Expr::Kind::load) return;
      wide = wide || sizes_.bound(g_.elements(g_.at(expr.tensor).shape)) >= INT32_MAX - 4096;
    });
    return wide;
  }

  void line(const std::string& text) { body_ += std::string(2 * (depth_ + 1), ' ') + text + "\n"; }
  void open(const std::string& text) {
    line(text + " {");
    ++depth_;
    scopes_.emplace_back();
  }
  void close() {
    --depth_;
    scopes_.pop_back();
    line("}");
  }
  std::string fresh() { return "v" + std::to_string(next_++); }

  std::string parameter(KernelText::Parameter p, const std::string& type,
                        const std::string& prefix) {
    for (size_t i = 1; i < parameters_.size(); ++i) {
      const auto& other = parameters_[i];
      if (other.kind == p.kind && other.tensor == p.tensor && other.size == p.size)
        return names_[i];
    }
    names_.resize(parameters_.size());
    names_.push_back(prefix + std::to_string(parameters_.size() - 1));
    parameters_.push_back(p);
    signature_ += ", " + type + names_.back();
    return names_.back();
  }
  std::string size(SizeId id) {
    if (const auto known = sizes_.known(id)) return std::to_string(*known);
    return "(Index)" + parameter({ParameterKind::i64, -1, id}, "long long ", "n");
  }

  std::string atom(AtomId id) {
    const Atom a = ix_.atom(id);
    if (a.kind == Atom::Kind::variable) return atoms_.at(id);
    if (a.kind == Atom::Kind::value) return "(Index)" + value(a.value);
    const std::string inner = index(a.inner);
    return "(" + inner + (a.kind == Atom::Kind::quotient ? ") / " : ") % ") + size(a.extent);
  }
  std::string index(const Index& i) {
    std::string out;
    for (const Term& term : i.terms) {
      const auto known = sizes_.known(term.coefficient);
      std::string text = atom(term.atom);
      const bool is_digit = ix_.atom(term.atom).kind == Atom::Kind::quotient ||
                            ix_.atom(term.atom).kind == Atom::Kind::rest;
      if (known != 1 && is_digit) text = "(" + text + ")";
      if (known && *known < 0) {
        text = (out.empty() ? "-" : " - ") + text;
        if (*known != -1) text += " * " + std::to_string(-*known);
      } else {
        text = (out.empty() ? "" : " + ") + text;
        if (known != 1) text += " * " + size(term.coefficient);
      }
      out += text;
    }
    const auto constant = sizes_.known(i.constant);
    if (constant == 0) return out.empty() ? "0" : out;
    if (out.empty()) return size(i.constant);
    if (constant && *constant < 0) return out + " - " + std::to_string(-*constant);
    return out + " + " + size(i.constant);
  }

  // The name of an expression's value in the present scope.
  std::string value(ExprId id) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(id); found != scope->end()) return found->second;
    }
    std::string name = make(g_.exprs().at(id), id);
    scopes_.back().emplace(id, name);
    return name;
  }

  std::string define(bp_dtype_t dtype, const std::string& text) {
    const std::string name = fresh();
    line("const " + std::string(register_type(dtype)) + " " + name + " = " + text + ";");
    return name;
  }
  static std::string rounded(bp_dtype_t dtype, const std::string& text) {
    if (dtype == sdk::kFloat16) return "round_to<half_t>(" + text + ")";
    if (dtype == sdk::kBFloat16) return "round_to<bfloat16_t>(" + text + ")";
    return text;
  }

  std::string make(const Expr& e, ExprId id) {
    switch (e.kind) {
      case Expr::Kind::literal:
        return e.text;
      case Expr::Kind::number:
        return "(" + std::string(register_type(e.dtype)) + ")" +
               parameter({ParameterKind::f64, e.tensor}, "double ", "number");
      case Expr::Kind::index:
        return define(e.dtype, index(e.indices[0]));
      case Expr::Kind::load: {
        const std::string at = index(ix_.dot(e.indices, g_.at(e.tensor).strides));
        const std::string type = "const " + std::string(memory_type(e.dtype)) + "* __restrict__ ";
        return define(e.dtype, "load(" + parameter({ParameterKind::pointer, e.tensor}, type, "x") +
                                   " + " + at + ")");
      }
      case Expr::Kind::apply:
        return define(e.dtype, rounded(e.dtype, formula(e)));
      case Expr::Kind::guard:
        return choice(e, test(e), e.operands[0], e.operands[1]);
      case Expr::Kind::choose:
        return choice(e, value(e.operands[0]), e.operands[1], e.operands[2]);
      case Expr::Kind::reduce:
        return loop(e);
    }
    (void)id;
    return {};
  }

  std::string formula(const Expr& e) {
    std::vector<std::string> operands;
    for (const ExprId o : e.operands) operands.push_back(value(o));
    std::string out;
    for (size_t i = 0; i < e.text.size(); ++i) {
      if (e.text[i] == '$') {
        out += operands[static_cast<size_t>(e.text[++i] - '0')];
      } else {
        out += e.text[i];
      }
    }
    return out;
  }

  std::string test(const Expr& e) {
    std::string out;
    for (size_t i = 0; i < e.indices.size(); ++i) {
      const std::string at = define(sdk::kInt64, index(e.indices[i]));
      out += (i == 0 ? "" : " && ") + ("0 <= " + at) + " && " + at + " < " + size(e.limits[i]);
    }
    return out;
  }
  std::string choice(const Expr& e, const std::string& condition, ExprId yes, ExprId no) {
    const std::string name = fresh();
    line(std::string(register_type(e.dtype)) + " " + name + ";");
    open("if (" + condition + ")");
    line(name + " = " + value(yes) + ";");
    --depth_;
    scopes_.pop_back();
    open("} else");
    line(name + " = " + value(no) + ";");
    close();
    return name;
  }

  // ---- reductions ----

  static bool is_place(Reduction kind) {
    return kind == Reduction::arg_max || kind == Reduction::arg_min;
  }
  static std::string combiner(const Expr& e, std::string_view type) {
    const std::string t = "<" + std::string(type) + ">";
    switch (e.reduction) {
      case Reduction::sum:
        return "Sum" + t;
      case Reduction::product:
        return "Product" + t;
      case Reduction::max:
        return "Max" + t;
      case Reduction::min:
        return "Min" + t;
      case Reduction::any:
        return "Any";
      case Reduction::all:
        return "All";
      case Reduction::arg_max:
        return "ArgMax" + t;
      default:
        return "ArgMin" + t;
    }
  }
  std::string combiner(const Expr& e) {
    return combiner(e, register_type(g_.exprs().at(e.operands[0]).dtype));
  }
  void take(const Expr& e, const std::string& name) {
    std::string element = value(e.operands[0]);
    if (is_place(e.reduction)) element += ", " + value(e.operands[1]);
    line(name + ".take(" + element + ");");
  }
  // By this thread alone.
  std::string loop(const Expr& e) {
    const std::string name = fresh();
    line(combiner(e) + " " + name + ";");
    for (const AtomId v : e.variables) {
      const std::string k = "k" + std::to_string(next_++);
      atoms_[v] = k;
      open("for (Index " + k + " = 0; " + k + " < " + size(ix_.atom(v).extent) + "; ++" + k + ")");
    }
    take(e, name);
    for (size_t i = 0; i < e.variables.size(); ++i) close();
    return define(e.dtype, name + ".result()");
  }
  // By the threads of a row.
  void row_loop(ExprId id, int64_t width) {
    const Expr e = g_.exprs().at(id);
    const std::string name = fresh();
    line(combiner(e) + " " + name + ";");
    SizeId extent = sizes_.constant(1);
    for (const AtomId v : e.variables) extent = sizes_.multiply(extent, ix_.atom(v).extent);
    const std::string j = "j" + std::to_string(next_++);
    const AtomId flat = ix_.variable(extent);
    atoms_[flat] = j;
    Expr inner = e;
    for (ExprId& o : inner.operands) o = with_digits(o, e.variables, flat);
    open("for (Index " + j + " = lane; " + j + " < " + size(extent) + "; " + j +
         " += " + std::to_string(width) + ")");
    take(inner, name);
    close();
    line("reduce_row<" + std::to_string(width) + ">(" + name + ");");
    scopes_.back()[id] = define(e.dtype, name + ".result()");
  }

  // `e` with `variables` as the digits of `flat`, the last one the fastest.
  ExprId with_digits(ExprId e, const std::vector<AtomId>& variables, AtomId flat) {
    std::map<AtomId, Index> with;
    Index left = ix_.of(flat);
    for (size_t i = variables.size(); i-- > 0;) {
      const SizeId extent = ix_.atom(variables[i]).extent;
      with.emplace(variables[i], i == 0 ? left : ix_.rest(left, extent));
      left = ix_.quotient(left, extent);
    }
    return g_.exprs().substitute(e, with, [](const Expr&) { return ExprId{-1}; });
  }

  // ---- the two kinds of kernel ----

  void store(const Tensor& target, const std::map<AtomId, Index>& with, ExprId element) {
    std::vector<Index> at;
    for (const AtomId v : target.vars) at.push_back(with.at(v));
    const std::string result = value(element);
    line("store(out + " + index(ix_.dot(at, target.strides)) + ", " + result + ");");
  }
  // Variables of the target as digits of `flat`.
  std::map<AtomId, Index> digits(const std::vector<AtomId>& variables, AtomId flat) {
    std::map<AtomId, Index> with;
    Index left = ix_.of(flat);
    for (size_t i = variables.size(); i-- > 0;) {
      const SizeId extent = ix_.atom(variables[i]).extent;
      with.emplace(variables[i], i == 0 ? left : ix_.rest(left, extent));
      left = ix_.quotient(left, extent);
    }
    return with;
  }
  ExprId substitute(ExprId e, const std::map<AtomId, Index>& with) {
    return g_.exprs().substitute(e, with, [](const Expr&) { return ExprId{-1}; });
  }
  SizeId extent_of(const std::vector<AtomId>& variables) {
    SizeId n = sizes_.constant(1);
    for (const AtomId v : variables) n = sizes_.multiply(n, ix_.atom(v).extent);
    return n;
  }

  void write_elements(const Tensor& target) {
    const SizeId n = extent_of(target.vars);
    const AtomId i = ix_.variable(n);
    atoms_[i] = "i";
    line("const Index i = (Index)blockIdx.x * 256 + threadIdx.x;");
    line("if (i >= " + size(n) + ") return;");
    const auto with = digits(target.vars, i);
    store(target, with, substitute(element_, with));
    out_.grid = sizes_.ceil_div(n, sizes_.constant(kThreads));
  }

  void write_rows(const Tensor& target, const std::vector<ExprId>& rows) {
    std::set<AtomId> free;
    SizeId longest = sizes_.constant(0);
    for (const ExprId r : rows) {
      free.merge(free_variables(g_.exprs(), r));
      const SizeId extent = extent_of(g_.exprs().at(r).variables);
      if (sizes_.bound(extent) >= sizes_.bound(longest)) longest = extent;
    }
    std::vector<AtomId> row_vars;
    std::vector<AtomId> columns;
    for (const AtomId v : target.vars) (free.contains(v) ? row_vars : columns).push_back(v);
    const int64_t width = sizes_.bound(longest) <= kLongestWarpRow ? kWarp : kThreads;
    const SizeId num_rows = extent_of(row_vars);
    const AtomId row = ix_.variable(num_rows);
    atoms_[row] = "row";
    if (width == kWarp) {
      line("const Index row = (Index)blockIdx.x * 8 + threadIdx.x / 32;");
      line("const int lane = threadIdx.x % 32;");
      line("if (row >= " + size(num_rows) + ") return;");
      out_.grid = sizes_.ceil_div(num_rows, sizes_.constant(kThreads / kWarp));
    } else {
      line("const Index row = blockIdx.x;");
      line("const int lane = threadIdx.x;");
      out_.grid = num_rows;
    }
    auto with = digits(row_vars, row);
    const ExprId element = substitute(element_, with);
    for (const ExprId r : row_reductions(g_, element)) row_loop(r, width);
    const SizeId num_columns = extent_of(columns);
    const AtomId c = ix_.variable(num_columns);
    atoms_[c] = "c";
    const auto of_columns = digits(columns, c);
    with.insert(of_columns.begin(), of_columns.end());
    if (sizes_.is(num_columns, 1)) {
      open("if (lane == 0)");
    } else {
      open("for (Index c = lane; c < " + size(num_columns) + "; c += " + std::to_string(width) +
           ")");
    }
    store(target, with, substitute(element, of_columns));
    close();
  }

  TensorGraph& g_;
  IndexPool& ix_;
  SizeTable& sizes_;
  TensorId id_;
  ExprId element_;
  KernelText out_;
  std::vector<KernelText::Parameter> parameters_;
  std::vector<std::string> names_;
  std::string signature_, body_;
  size_t depth_ = 0;
  int next_ = 0;
  bool is_wide_ = false;
  std::vector<std::map<ExprId, std::string>> scopes_;
  std::map<AtomId, std::string> atoms_;
};

}  // namespace

KernelText write_kernel(TensorGraph& g, TensorId id, ExprId element) {
  return Writer(g, id, element).write();
}

}  // namespace backplane::cuda::compiler
