#include "cuda/compiler/schedule.hpp"

#include <algorithm>
#include <functional>

namespace backplane::cuda::compiler {
namespace {

constexpr int64_t kLongestSerial = 32;
constexpr int kCheap = 2;       // operations that may be repeated
constexpr int kMostInRow = 16;  // operations that each pass over a row may repeat
constexpr size_t kMostLoads = 24;

SizeId extent_of(TensorGraph& g, const Expr& reduce) {
  SizeId n = g.sizes().constant(1);
  for (const AtomId v : reduce.variables) n = g.sizes().multiply(n, g.indices().atom(v).extent);
  return n;
}

void collect(const ExprPool& pool, const Index& index, std::set<AtomId>& out) {
  for (const Term& term : index.terms) {
    const Atom& atom = pool.indices().atom(term.atom);
    if (atom.kind == Atom::Kind::variable) {
      out.insert(term.atom);
    } else if (atom.kind == Atom::Kind::value) {
      out.merge(free_variables(pool, atom.value));
    } else {
      collect(pool, atom.inner, out);
    }
  }
}

}  // namespace

std::set<AtomId> free_variables(const ExprPool& pool, ExprId id) {
  std::set<AtomId> out;
  const Expr& e = pool.at(id);
  for (const Index& index : e.indices) collect(pool, index, out);
  for (const ExprId operand : e.operands) out.merge(free_variables(pool, operand));
  for (const AtomId v : e.variables) out.erase(v);
  return out;
}

bool is_cooperative(TensorGraph& g, ExprId id) {
  const Expr& e = g.exprs().at(id);
  if (e.kind != Expr::Kind::reduce) return false;
  const auto extent = g.sizes().known(extent_of(g, e));
  return !extent || *extent > kLongestSerial;
}

std::vector<ExprId> row_reductions(TensorGraph& g, ExprId element) {
  std::vector<ExprId> out;
  std::set<ExprId> seen;
  // `bound`: the variables of the reductions around.
  const std::function<void(ExprId, std::set<AtomId>)> walk = [&](ExprId id,
                                                                 std::set<AtomId> bound) {
    if (!seen.insert(id).second) return;
    const Expr e = g.exprs().at(id);
    const bool is_row = is_cooperative(g, id);
    if (e.kind == Expr::Kind::reduce) {
      for (const AtomId v : free_variables(g.exprs(), id)) {
        if (bound.contains(v)) return;  // of an inner loop: serial, and what is in it too
      }
      if (!is_row) return;
      bound.insert(e.variables.begin(), e.variables.end());
    }
    for (const ExprId operand : e.operands) walk(operand, bound);
    if (is_row) out.push_back(id);
  };
  walk(element, {});
  return out;
}

Schedule::Schedule(TensorGraph& g, const std::vector<TensorId>& outputs)
    : g_(g), live_(g.size(), false), stored_(g.size(), false), uses_(g.size(), 0) {
  mark_live(outputs);
  store_what_must(outputs);
  count_uses();
  store_what_is_shared();
  store_what_costs();
}

void Schedule::mark_live(const std::vector<TensorId>& outputs) {
  std::vector<TensorId> left = outputs;
  while (!left.empty()) {
    const TensorId id = left.back();
    left.pop_back();
    if (id < 0 || live_[static_cast<size_t>(id)]) continue;
    live_[static_cast<size_t>(id)] = true;
    const Tensor& tensor = g_.at(id);
    if (tensor.kind == Tensor::Kind::computed) {
      visit(g_.exprs(), tensor.expr, [&](ExprId e) {
        if (g_.exprs().at(e).kind == Expr::Kind::load) left.push_back(g_.exprs().at(e).tensor);
      });
    } else if (tensor.kind == Tensor::Kind::called) {
      const Call& call = g_.calls()[static_cast<size_t>(tensor.source)];
      left.insert(left.end(), {call.a, call.b, call.bias, call.addend});
    }
  }
}

Schedule::Cost Schedule::cost(ExprId root) const {
  Cost out;
  visit(g_.exprs(), root, [&](ExprId id) {
    const Expr& e = g_.exprs().at(id);
    if (e.kind == Expr::Kind::load) out.has_loads = true;
    if (e.kind == Expr::Kind::guard || e.kind == Expr::Kind::choose) ++out.operations;
    if (e.kind == Expr::Kind::reduce) {
      out.has_rows = out.has_rows || is_cooperative(g_, id);
      out.operations += 100;
    }
    if (e.kind != Expr::Kind::apply) return;
    const bool is_cast =
        e.text.starts_with("(") && e.operands.size() == 1 && e.text.ends_with(")$0");
    const bool is_index = e.text.starts_with("clamped_index");
    const bool is_function =
        e.text.find("math_") != std::string::npos && e.text.find("math_m") == std::string::npos;
    out.operations += is_cast || is_index ? 0 : is_function ? 8 : 1;
  });
  return out;
}

bool Schedule::is_free(TensorId id) const {
  const Tensor& tensor = g_.at(id);
  if (tensor.kind != Tensor::Kind::computed) return false;
  const Cost c = cost(tensor.expr);
  return !c.has_loads || c.operations <= 1;
}

void Schedule::count_uses() {
  for (size_t i = g_.size(); i-- > 0;) {
    const auto id = static_cast<TensorId>(i);
    const Tensor& tensor = g_.at(id);
    if (!live_[i]) continue;
    const uint32_t count = is_free(id) && !stored_[i] ? std::max(uses_[i], 1U) : 1;
    if (tensor.kind == Tensor::Kind::computed) {
      visit(g_.exprs(), tensor.expr, [&](ExprId e) {
        if (g_.exprs().at(e).kind == Expr::Kind::load)
          uses_[static_cast<size_t>(g_.exprs().at(e).tensor)] += count;
      });
    } else if (tensor.kind == Tensor::Kind::called) {
      const Call& call = g_.calls()[static_cast<size_t>(tensor.source)];
      for (const TensorId t : {call.a, call.b, call.bias, call.addend}) {
        if (t >= 0) ++uses_[static_cast<size_t>(t)];
      }
    }
  }
}

void Schedule::store_what_must(const std::vector<TensorId>& outputs) {
  for (size_t i = 0; i < g_.size(); ++i) {
    if (live_[i] && g_.at(static_cast<TensorId>(i)).kind != Tensor::Kind::computed)
      stored_[i] = true;
  }
  for (const TensorId id : outputs) {
    if (id >= 0) stored_[static_cast<size_t>(id)] = true;
  }
  for (const Call& call : g_.calls()) {
    if (!live_[static_cast<size_t>(call.result)]) continue;
    const bool is_matrix = call.kind == Call::Kind::gemm;
    for (const TensorId t : {call.a, call.b}) store_operand(t, is_matrix);
    for (const TensorId t : {call.bias, call.addend}) {
      if (t >= 0) store_operand(t, false);
    }
  }
}

// Follows views to what lies in memory, or must.
std::optional<StridedView> Schedule::strided(TensorId id, bool is_matrix) {
  const Tensor& tensor = g_.at(id);
  std::vector<Index> indices = g_.variables(id);
  TensorId base = id;
  while (g_.at(base).kind == Tensor::Kind::computed && !stored_[static_cast<size_t>(base)]) {
    const Expr e = g_.exprs().at(g_.at(base).expr);
    if (e.kind != Expr::Kind::load) break;
    std::map<AtomId, Index> with;
    for (size_t d = 0; d < indices.size(); ++d) with.emplace(g_.at(base).vars[d], indices[d]);
    std::vector<Index> next;
    for (const Index& i : e.indices) {
      next.push_back(g_.indices().substitute(i, [&](AtomId a) {
        const auto found = with.find(a);
        return found == with.end() ? g_.indices().of(a) : found->second;
      }));
    }
    indices = std::move(next);
    base = e.tensor;
  }
  const Index flat = g_.indices().dot(indices, g_.at(base).strides);
  StridedView view{base, flat.constant, {}};
  size_t found = 0;
  for (size_t d = 0; d < tensor.vars.size(); ++d) {
    SizeId stride = g_.sizes().constant(0);
    for (const Term& term : flat.terms) {
      if (term.atom != tensor.vars[d]) continue;
      stride = term.coefficient;
      ++found;
    }
    const auto known = g_.sizes().known(stride);
    if (known && *known < 0) return std::nullopt;
    view.strides.push_back(stride);
  }
  if (found != flat.terms.size()) return std::nullopt;
  if (!is_matrix) return view;
  // Rows or columns are dense, and the others lie apart.
  const auto fits = [&](size_t dense, size_t other) {
    const SizeTable& sizes = g_.sizes();
    const bool is_dense = sizes.is(view.strides[dense], 1) || sizes.is(tensor.shape[dense], 1);
    const auto step = sizes.known(view.strides[other]);
    const auto width = sizes.known(tensor.shape[dense]);
    const bool is_apart = sizes.is(tensor.shape[other], 1) || !step || (width && *step >= *width);
    return is_dense && is_apart;
  };
  if (!fits(2, 1) && !fits(1, 2)) return std::nullopt;
  return view;
}

void Schedule::store_operand(TensorId id, bool is_matrix) {
  const auto view = strided(id, is_matrix);
  stored_[static_cast<size_t>(view ? view->base : id)] = true;
}

StridedView Schedule::view(TensorId id) {
  const bool is_matrix = g_.at(id).shape.size() == 3;
  if (const auto found = strided(id, is_matrix); found && stored_[static_cast<size_t>(found->base)])
    return *found;
  if (const auto found = strided(id, false); found && stored_[static_cast<size_t>(found->base)])
    return *found;
  return {id, g_.sizes().constant(0), g_.at(id).strides};
}

bool Schedule::is_derived(TensorId id) {
  return g_.at(id).kind == Tensor::Kind::computed && g_.is_constant(id);
}

void Schedule::store_what_is_shared() {
  for (size_t i = 0; i < g_.size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    if (!live_[i] || stored_[i] || is_free(id)) continue;
    // What weights alone decide is made once; the parts of a derived tensor are made with it.
    if (uses_[i] > 1) stored_[i] = true;
    if (!g_.is_constant(id)) continue;
    stored_[i] = true;
  }
}

ExprId Schedule::close(TensorId root, std::vector<TensorId>* inlined) {
  const std::function<ExprId(ExprId, const std::map<AtomId, Index>&)> expand =
      [&](ExprId expr, const std::map<AtomId, Index>& with) {
        return g_.exprs().substitute(expr, with, [&](const Expr& load) -> ExprId {
          const Tensor& t = g_.at(load.tensor);
          if (stored_[static_cast<size_t>(load.tensor)] || t.kind != Tensor::Kind::computed)
            return -1;
          if (inlined != nullptr) inlined->push_back(load.tensor);
          std::map<AtomId, Index> inner;
          for (size_t d = 0; d < t.vars.size(); ++d) inner.emplace(t.vars[d], load.indices[d]);
          return expand(t.expr, inner);
        });
      };
  return expand(g_.at(root).expr, {});
}

ExprId Schedule::element(TensorId id) {
  return close(id, nullptr);
}

TensorId Schedule::too_costly(TensorId id, ExprId element, const std::vector<TensorId>& inlined) {
  SizeTable& sizes = g_.sizes();
  const SizeId own = g_.elements(g_.at(id).shape);
  const std::vector<ExprId> rows = row_reductions(g_, element);
  std::set<AtomId> row_variables;
  SizeId longest = sizes.constant(1);
  for (const ExprId r : rows) {
    row_variables.merge(free_variables(g_.exprs(), r));
    longest = extent_of(g_, g_.exprs().at(r));
  }
  SizeId work = longest;
  for (const AtomId v : row_variables) work = sizes.multiply(work, g_.indices().atom(v).extent);
  const bool is_row_work = work == own || (sizes.known(work) && sizes.known(own) &&
                                           *sizes.known(work) <= *sizes.known(own));
  size_t num_loads = 0;
  visit(g_.exprs(), element,
        [&](ExprId e) { num_loads += g_.exprs().at(e).kind == Expr::Kind::load ? 1 : 0; });
  const bool has_reduction = cost(g_.at(id).expr).operations >= 100;
  for (auto it = inlined.rbegin(); it != inlined.rend(); ++it) {
    const Cost c = cost(g_.at(*it).expr);
    if (is_free(*it)) continue;
    const SizeId theirs = g_.elements(g_.at(*it).shape);
    const bool is_larger = theirs == own || (sizes.known(theirs) && sizes.known(own) &&
                                             *sizes.known(theirs) >= *sizes.known(own));
    if (c.has_rows && !is_row_work) return *it;
    if (c.operations >= 100 && has_reduction) return *it;
    if (!is_larger && c.operations > kCheap) return *it;
    if (has_reduction && c.operations > (rows.empty() ? kCheap : kMostInRow)) return *it;
    if (num_loads > kMostLoads) return *it;
  }
  return -1;
}

void Schedule::store_what_costs() {
  for (size_t i = 0; i < g_.size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    if (!live_[i] || !stored_[i] || g_.at(id).kind != Tensor::Kind::computed) continue;
    while (true) {
      std::vector<TensorId> inlined;
      const ExprId element = close(id, &inlined);
      const TensorId costly = too_costly(id, element, inlined);
      if (costly < 0) break;
      stored_[static_cast<size_t>(costly)] = true;
      i = static_cast<size_t>(costly) - 1;  // what it inlines is looked at first
      break;
    }
  }
}

std::vector<TensorId> Schedule::stored() const {
  std::vector<TensorId> out;
  for (size_t i = 0; i < g_.size(); ++i) {
    if (live_[i] && stored_[i]) out.push_back(static_cast<TensorId>(i));
  }
  return out;
}

}  // namespace backplane::cuda::compiler
