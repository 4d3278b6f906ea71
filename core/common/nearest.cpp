#include "common/nearest.hpp"

#include <algorithm>
#include <vector>

namespace backplane {
namespace {

constexpr size_t kLongest = 100;  // names beyond it are no typing errors

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Edits that make `a` of `b`; three rows of the usual table are enough.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before;
  std::vector<size_t> last(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]);
      const char y = lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::move(last);
    last = std::move(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.empty() || name.size() > kLongest) return {};
  std::string_view best;
  size_t least = std::min((name.size() + 2) / 3, name.size() - 1) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const size_t edits = distance(name, candidate);
    if (edits < least) {
      best = candidate;
      least = edits;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest(name, candidates);
  return best.empty() ? "" : "; did you mean '" + std::string(best) + "'?";
}

}  // namespace backplane
