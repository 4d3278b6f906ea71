#include "cuda/compiler/architectures.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace backplane::cuda::compiler {
namespace {

constexpr uint32_t kOldest = 80;

Result<Architecture> parse_one(std::string_view word) {
  Architecture out{std::string(word), ImageKind::cubin, 0, false};
  std::string_view rest = word;
  if (rest.starts_with("sm_")) {
    rest.remove_prefix(3);
  } else if (rest.starts_with("compute_")) {
    rest.remove_prefix(8);
    out.kind = ImageKind::ptx;
  } else {
    rest = {};
  }
  const auto [stop, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), out.capability);
  const std::string_view tail = rest.substr(static_cast<size_t>(stop - rest.data()));
  out.is_exact = tail == "a" || tail == "f";
  if (rest.empty() || error != std::errc() || (!tail.empty() && !out.is_exact)) {
    return Error{Code::invalid_argument, "gpu_arch: '" + std::string(word) +
                                             "' is no architecture: they are as sm_90a or "
                                             "compute_80, with commas between them"};
  }
  if (out.capability < kOldest) {
    return Error{Code::unsupported,
                 "gpu_arch: '" + std::string(word) + "' is older than sm_80, the oldest supported"};
  }
  return out;
}

}  // namespace

Result<std::vector<Architecture>> parse_architectures(std::string_view list) {
  std::vector<Architecture> out;
  while (true) {
    const size_t comma = std::min(list.find(','), list.size());
    BP_ASSIGN_OR_RETURN(Architecture one, parse_one(list.substr(0, comma)));
    const bool is_known = std::any_of(out.begin(), out.end(),
                                      [&](const Architecture& a) { return a.name == one.name; });
    if (!is_known) out.push_back(std::move(one));
    if (comma == list.size()) break;
    list.remove_prefix(comma + 1);
  }
  std::stable_sort(out.begin(), out.end(), [](const Architecture& a, const Architecture& b) {
    const auto rank = [](const Architecture& x) {
      return std::tuple(x.kind == ImageKind::ptx, -static_cast<int64_t>(x.capability), !x.is_exact);
    };
    return rank(a) < rank(b);
  });
  return out;
}

}  // namespace backplane::cuda::compiler
