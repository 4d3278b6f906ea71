// Which shapes can be views of a strided tensor: PyTorch's rule, with symbolic sizes.
#include <algorithm>
#include <numeric>

#include "passes/view_steps.hpp"

namespace backplane::passes {
namespace {

// Three-valued and: false wins over unknown.
struct Known {
  std::optional<bool> value = true;
  void also(std::optional<bool> other) {
    if (value == false) return;
    if (other == false || !other) value = other;
  }
};

}  // namespace

std::vector<size_t> memory_order(size_t rank, MemoryFormat format) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  const bool channels_last = (format == MemoryFormat::channels_last && rank == 4) ||
                             (format == MemoryFormat::channels_last_3d && rank == 5);
  if (channels_last) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

std::optional<bool> has_format(SymbolTable& symbols, const TensorType& type, MemoryFormat format) {
  const size_t rank = type.sizes.size();
  const std::vector<size_t> have = memory_order(rank, MemoryFormat::contiguous);
  const std::vector<size_t> want = memory_order(rank, format);
  if (type.strides.empty() && have == want) return true;
  for (SymInt size : type.sizes) {
    if (symbols.known_eq(size, 0) == true) return true;
  }
  Known known;
  std::vector<SymInt> behind;
  for (size_t i = rank; i-- > 0;) {
    const SymInt size = type.sizes[want[i]];
    if (symbols.known_eq(size, 1) != true) {
      SymInt stride = type.strides.empty() ? SymInt(1) : type.strides[want[i]];
      if (type.strides.empty()) {
        for (size_t d = want[i] + 1; d < rank; ++d) stride = symbols.mul(stride, type.sizes[d]);
      }
      if (!symbols.is_product(stride, behind)) {
        const std::optional<bool> equal = symbols.known_eq(stride, symbols.product(behind));
        const bool certain = equal == false && symbols.known_le(2, size) == true;
        known.also(equal == true || certain ? equal : std::nullopt);
      }
    }
    behind.push_back(size);
  }
  return known.value;
}

std::vector<SymInt> strides_of(SymbolTable& symbols, const TensorType& type) {
  if (!type.strides.empty()) return type.strides;
  std::vector<SymInt> strides(type.sizes.size(), SymInt(1));
  for (size_t d = strides.size(); d-- > 1;) {
    strides[d - 1] = symbols.mul(strides[d], type.sizes[d]);
  }
  return strides;
}

std::optional<SymInt> first_element(SymbolTable& symbols, const TensorType& whole,
                                    std::span<const ViewStep> steps) {
  std::vector<SymInt> sizes = whole.sizes;
  std::vector<SymInt> strides = strides_of(symbols, whole);
  SymInt start = 0;
  for (const ViewStep& step : steps) {
    switch (step.kind) {
      case ViewStep::Kind::permute: {
        const std::vector<SymInt> old_sizes = sizes;
        const std::vector<SymInt> old_strides = strides;
        const auto& order = std::get<IntList>(step.args[0]);
        for (size_t d = 0; d < order.size(); ++d) {
          sizes[d] = old_sizes[static_cast<size_t>(order[d].literal)];
          strides[d] = old_strides[static_cast<size_t>(order[d].literal)];
        }
        break;
      }
      case ViewStep::Kind::select: {
        const auto* index = std::get_if<int64_t>(&step.args[1]);
        if (index == nullptr) return std::nullopt;
        const auto dim = static_cast<size_t>(std::get<int64_t>(step.args[0]));
        const SymInt at = *index < 0 ? symbols.add(sizes[dim], *index) : SymInt(*index);
        start = symbols.add(start, symbols.mul(at, strides[dim]));
        sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(dim));
        strides.erase(strides.begin() + static_cast<ptrdiff_t>(dim));
        break;
      }
      case ViewStep::Kind::slice: {
        const auto dim = static_cast<size_t>(std::get<int64_t>(step.args[0]));
        const auto* by = std::get_if<int64_t>(&step.args[3]);
        if (by == nullptr || *by <= 0 || !sizes[dim].is_constant()) return std::nullopt;
        const int64_t size = sizes[dim].constant();
        const auto bound = [&](const Argument& argument, int64_t absent) -> std::optional<int64_t> {
          if (std::holds_alternative<None>(argument)) return absent;
          const auto* at = std::get_if<int64_t>(&argument);
          if (at == nullptr) return std::nullopt;
          return std::clamp<int64_t>(*at < 0 ? *at + size : *at, 0, size);
        };
        const std::optional<int64_t> first = bound(step.args[1], 0);
        const std::optional<int64_t> last = bound(step.args[2], size);
        if (!first || !last) return std::nullopt;
        start = symbols.add(start, symbols.mul(*first, strides[dim]));
        strides[dim] = symbols.mul(strides[dim], *by);
        sizes[dim] = symbols.ceil_div(std::max<int64_t>(*last - *first, 0), *by);
        break;
      }
      case ViewStep::Kind::section: {
        const auto dim = static_cast<size_t>(std::get<int64_t>(step.args[0]));
        start = symbols.add(start, symbols.mul(step.sizes[0], strides[dim]));
        sizes[dim] = symbols.sub(step.sizes[1], step.sizes[0]);
        break;
      }
      default:
        return std::nullopt;
    }
  }
  return start;
}

std::optional<bool> can_reshape_in_place(SymbolTable& symbols, const TensorType& type,
                                         std::span<const SymInt> sizes) {
  if (has_format(symbols, type, MemoryFormat::contiguous) == true) return true;
  for (SymInt size : type.sizes) {
    if (symbols.known_eq(size, 0) == true) return true;
  }
  // Dimensions that lie as one are taken together, from the innermost outwards; new dimensions must
  // divide each such run.
  auto next = static_cast<ptrdiff_t>(sizes.size()) - 1;
  SymInt run = 1;
  SymInt base = type.strides.empty() ? SymInt(1) : type.strides.back();
  for (ptrdiff_t d = static_cast<ptrdiff_t>(type.sizes.size()) - 1; d >= 0; --d) {
    const auto at = static_cast<size_t>(d);
    run = symbols.mul(run, type.sizes[at]);
    if (d > 0) {
      if (symbols.known_eq(type.sizes[at - 1], 1) == true) continue;
      const SymInt joined = symbols.mul(run, base);
      const std::optional<bool> joins = symbols.known_eq(type.strides[at - 1], joined);
      if (!joins && type.strides[at - 1] != joined) return std::nullopt;
      if (joins == true) continue;
    }
    SymInt part = 1;
    while (next >= 0) {
      const std::optional<bool> done = symbols.known_eq(part, run);
      const bool is_one = symbols.known_eq(sizes[static_cast<size_t>(next)], 1) == true;
      if (done == true && !is_one) break;
      if (!done && part != run && symbols.known_le(run, part) == true) return std::nullopt;
      part = symbols.mul(part, sizes[static_cast<size_t>(next)]);
      --next;
      if (symbols.known_le(part, run) == false) return false;
    }
    const std::optional<bool> whole = symbols.known_eq(part, run);
    if (whole != true) return whole;
    if (d > 0) {
      base = type.strides[at - 1];
      run = 1;
    }
  }
  return next < 0;
}

}  // namespace backplane::passes
