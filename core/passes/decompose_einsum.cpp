// einsum: pairs of factors contracted one after the other, each pair as one batched product.
#include <algorithm>
#include <array>
#include <string>

#include "passes/decompose.hpp"
#include "passes/emit_views.hpp"

namespace backplane::passes {
namespace {

// A factor: its dimensions carry letters. What "..." stands for is '\1', '\2', … from the right.
struct Labelled {
  ValueRef value;
  std::string labels;
};

bool has(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

std::string ellipsis(size_t count) {
  std::string labels;
  for (size_t i = count; i > 0; --i) labels += static_cast<char>(i);
  return labels;
}

struct Equation {
  std::vector<std::string> inputs;
  std::string result;
};

// Nothing if the text is no equation for factors of these ranks, or is too large.
std::optional<Equation> parse(std::string_view text, const std::vector<int64_t>& ranks) {
  constexpr size_t kMostDimensions = 31;
  Equation equation;
  std::string compact;
  for (const char c : text) {
    if (c != ' ') compact += c;
  }
  const size_t arrow = compact.find("->");
  std::string inputs = compact.substr(0, arrow) + ",";
  size_t widest = 0;
  for (const int64_t rank : ranks) {
    std::string labels = inputs.substr(0, inputs.find(','));
    if (inputs.empty()) return std::nullopt;
    inputs.erase(0, labels.size() + 1);
    const size_t dots = labels.find("...");
    const auto dimensions = static_cast<size_t>(rank);
    if (dots != std::string::npos) {
      const size_t letters = labels.size() - 3;
      if (letters > dimensions || dimensions - letters > kMostDimensions) return std::nullopt;
      labels.replace(dots, 3, ellipsis(dimensions - letters));
      widest = std::max(widest, dimensions - letters);
    }
    if (labels.size() != dimensions || has(labels, '.')) return std::nullopt;
    equation.inputs.push_back(std::move(labels));
  }
  if (!inputs.empty()) return std::nullopt;
  if (arrow != std::string::npos) {
    equation.result = compact.substr(arrow + 2);
    const size_t dots = equation.result.find("...");
    if (dots != std::string::npos) equation.result.replace(dots, 3, ellipsis(widest));
    return has(equation.result, '.') ? std::nullopt : std::optional(equation);
  }
  // Without an arrow: letters that occur once, in order.
  std::string all;
  for (const std::string& labels : equation.inputs) all += labels;
  std::string once;
  for (const char label : all) {
    if (label >= 'A' && std::count(all.begin(), all.end(), label) == 1) once += label;
  }
  std::sort(once.begin(), once.end());
  equation.result = ellipsis(widest) + once;
  return equation;
}

// A letter that a factor carries twice stands for the diagonal.
Labelled without_repeats(Rewriter& r, Labelled x) {
  for (size_t second = 0; second < x.labels.size(); ++second) {
    const char label = x.labels[second];
    const size_t first = x.labels.find(label);
    if (first == second) continue;
    x.value = r.emit("aten::diagonal", {x.value, int64_t{0}, static_cast<int64_t>(first),
                                        static_cast<int64_t>(second)});
    x.labels.erase(second, 1);
    x.labels.erase(first, 1);
    x.labels += label;
    second = 0;
  }
  return x;
}

// Drops dimensions of size 1 whose letter has another size in another factor: they broadcast.
void drop_broadcast(Rewriter& r, std::vector<Labelled>& factors) {
  const auto is_one = [&](const Labelled& x, size_t dim) {
    return r.type(x.value).sizes[dim] == SymInt(1);
  };
  std::string wide;
  for (const Labelled& x : factors) {
    for (size_t d = 0; d < x.labels.size(); ++d) {
      if (!is_one(x, d)) wide += x.labels[d];
    }
  }
  for (Labelled& x : factors) {
    for (size_t d = x.labels.size(); d-- > 0;) {
      if (!is_one(x, d) || !has(wide, x.labels[d])) continue;
      x.value = r.emit("aten::squeeze.dim", {x.value, static_cast<int64_t>(d)});
      x.labels.erase(d, 1);
    }
  }
}

ValueRef permuted(Rewriter& r, const Labelled& x, const std::string& order) {
  if (x.labels == order) return x.value;
  IntList dims;
  for (const char label : order)
    dims.push_back({static_cast<int64_t>(x.labels.find(label)), kNone});
  return r.emit("aten::permute", {x.value, dims});
}

// Sums away the letters that nobody wants any more.
Labelled without(Rewriter& r, Labelled x, const std::string& wanted) {
  IntList dims;
  std::string left;
  for (size_t d = 0; d < x.labels.size(); ++d) {
    if (!has(wanted, x.labels[d])) {
      dims.push_back({static_cast<int64_t>(d), kNone});
    } else {
      left += x.labels[d];
    }
  }
  if (dims.empty()) return x;
  return {r.emit("aten::sum.dim_IntList", {x.value, dims, false}), left};
}

Sizes sizes_of(Rewriter& r, const Labelled& x, const std::string& labels) {
  Sizes sizes;
  for (const char label : labels)
    sizes.push_back(r.size(x.value, static_cast<int64_t>(x.labels.find(label))));
  return sizes;
}

// The letters of a pair: in both and wanted, in both and summed, in one alone.
struct Roles {
  std::string batch, shared, left, right;
};

// No letter is summed: an element-wise product.
Labelled multiply(Rewriter& r, const Labelled& a, const Labelled& b, const Roles& roles) {
  const std::string order = roles.batch + roles.left + roles.right;
  const auto spread = [&](const Labelled& x) {
    std::string own;
    Sizes sizes;
    for (const char label : order) {
      if (has(x.labels, label)) own += label;
      sizes.push_back(has(x.labels, label) ? sizes_of(r, x, {label})[0] : SymInt(1));
    }
    return view(r, permuted(r, x, own), sizes);
  };
  return {r.emit("aten::mul.Tensor", {spread(a), spread(b)}), order};
}

Labelled batched_product(Rewriter& r, const Labelled& a, const Labelled& b, const Roles& roles) {
  const auto matrices = [&](const Labelled& x, const std::string& rows,
                            const std::string& columns) {
    SymbolTable& symbols = r.symbols();
    return view(r, permuted(r, x, roles.batch + rows + columns),
                {symbols.product(sizes_of(r, x, roles.batch)),
                 symbols.product(sizes_of(r, x, rows)), symbols.product(sizes_of(r, x, columns))});
  };
  const ValueRef product = r.emit(
      "aten::bmm", {matrices(a, roles.left, roles.shared), matrices(b, roles.shared, roles.right)});
  Sizes sizes = sizes_of(r, a, roles.batch + roles.left);
  for (const SymInt size : sizes_of(r, b, roles.right)) sizes.push_back(size);
  return {view(r, product, sizes), roles.batch + roles.left + roles.right};
}

// a and b over their common letters; `wanted`: letters needed after it.
Labelled contract(Rewriter& r, Labelled a, Labelled b, const std::string& wanted) {
  a = without(r, std::move(a), wanted + b.labels);
  b = without(r, std::move(b), wanted + a.labels);
  Roles roles;
  for (const char label : a.labels) {
    const bool stays = has(wanted, label);
    (has(b.labels, label) ? (stays ? roles.batch : roles.shared) : roles.left) += label;
  }
  for (const char label : b.labels) {
    if (!has(a.labels, label)) roles.right += label;
  }
  return roles.shared.empty() ? multiply(r, a, b, roles) : batched_product(r, a, b, roles);
}

bool einsum(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const std::vector<ValueRef> tensors = args.tensors("tensors");
  std::vector<int64_t> ranks;
  ranks.reserve(tensors.size());
  for (const ValueRef tensor : tensors) ranks.push_back(r.rank(tensor));
  const std::optional<Equation> equation = parse(args.text("equation"), ranks);
  if (!equation || tensors.empty()) return false;
  for (const ValueRef tensor : tensors) {
    if (r.dtype(tensor) != r.dtype(tensors[0])) return false;
  }
  std::vector<int64_t> path;  // pairs of positions; what they make goes to the end
  if (!args.is_none("path")) path = args.integers("path");
  std::vector<Labelled> factors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    factors.push_back(without_repeats(r, {tensors[i], equation->inputs[i]}));
  }
  drop_broadcast(r, factors);
  for (size_t step = 0; factors.size() > 1 && r.ok(); ++step) {
    size_t first = 0;
    size_t second = 1;
    if (2 * step + 1 < path.size()) {
      const auto [low, high] = std::minmax(path[2 * step], path[2 * step + 1]);
      if (low < 0 || low == high || high >= static_cast<int64_t>(factors.size())) break;
      first = static_cast<size_t>(low);
      second = static_cast<size_t>(high);
    }
    Labelled a = std::move(factors[first]);
    Labelled b = std::move(factors[second]);
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(second));
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(first));
    std::string wanted = equation->result;
    for (const Labelled& factor : factors) wanted += factor.labels;
    factors.push_back(contract(r, std::move(a), std::move(b), wanted));
  }
  if (factors.size() > 1) {
    (void)r.fail(Code::invalid_argument, "path names a factor that is not there");
    return true;
  }
  const Labelled all = without(r, factors[0], equation->result);
  if (all.labels.size() != equation->result.size()) {
    (void)r.fail(Code::invalid_argument, "a letter of the result is in no factor");
    return true;
  }
  r.replace(node, permuted(r, all, equation->result));
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::einsum", einsum},
};

}  // namespace

std::span<const DecompositionRule> einsum_rules() {
  return kRules;
}

}  // namespace backplane::passes
