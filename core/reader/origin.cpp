// Stack traces and module stacks, read from their ends.
#include "reader/origin.hpp"

#include "reader/json.hpp"

namespace backplane {
namespace {

std::string unescaped(std::string_view escaped) {
  Result<std::string> text = json::unescape(escaped);
  return text.ok() ? *std::move(text) : std::string();
}

// `, line 120, in forward\n    code` → ":120 in forward".
std::string line_and_function(std::string_view rest) {
  constexpr std::string_view kLine = ", line ";
  constexpr std::string_view kIn = ", in ";
  if (!rest.starts_with(kLine)) return "";
  rest.remove_prefix(kLine.size());
  rest = rest.substr(0, rest.find("\\n"));
  const size_t in = rest.find(kIn);
  std::string text = ":" + std::string(rest.substr(0, in));
  if (in != std::string_view::npos) text.append(" in ").append(rest.substr(in + kIn.size()));
  return text;
}

}  // namespace

std::string innermost_module(std::string_view escaped) {
  // Entries are "key,path,type".
  const size_t start = escaped.rfind(';');
  const std::string_view entry =
      start == std::string_view::npos ? escaped : escaped.substr(start + 1);
  const size_t first = entry.find(',');
  const size_t last = entry.rfind(',');
  // Export's own passes leave a name of theirs behind.
  if (first == last || entry.starts_with("_empty_nn_module_stack")) return "";
  return unescaped(entry.substr(first + 1, last - first - 1));
}

std::string innermost_source(std::string_view escaped) {
  constexpr std::string_view kFile = "File \\\"";
  std::string_view rest = escaped;
  std::string in_torch;
  while (true) {
    const size_t at = rest.rfind(kFile);
    if (at == std::string_view::npos) return in_torch;
    const std::string_view frame = escaped.substr(at + kFile.size());
    const size_t end = frame.find("\\\"");
    std::string_view path = frame.substr(0, end);
    rest = escaped.substr(0, at);
    // Generated code ("<eval_with_key>.12") is nothing that a person can look up.
    if (end == std::string_view::npos || path.starts_with('<')) continue;
    const bool is_torch =
        path.starts_with("torch/") || path.find("/site-packages/torch/") != std::string_view::npos;
    if (is_torch && !in_torch.empty()) continue;
    const size_t folder = path.find_last_of("/\\");
    if (folder != std::string_view::npos) path.remove_prefix(folder + 1);
    std::string source = unescaped(path) + unescaped(line_and_function(frame.substr(end + 2)));
    if (!is_torch) return source;
    in_torch = std::move(source);
  }
}

}  // namespace backplane
