// Tables of numbers, and the renaming of targets.
#include "reader/serialized.hpp"

#include <algorithm>
#include <array>

namespace backplane {
namespace {

struct NumberedType {
  int64_t number;
  DType dtype;
};

constexpr std::array kTypes = {
    NumberedType{1, DType::u8},          NumberedType{2, DType::i8},
    NumberedType{3, DType::i16},         NumberedType{4, DType::i32},
    NumberedType{5, DType::i64},         NumberedType{6, DType::f16},
    NumberedType{7, DType::f32},         NumberedType{8, DType::f64},
    NumberedType{9, DType::c32},         NumberedType{10, DType::c64},
    NumberedType{11, DType::c128},       NumberedType{12, DType::boolean},
    NumberedType{13, DType::bf16},       NumberedType{28, DType::u16},
    NumberedType{29, DType::f8e4m3fn},   NumberedType{30, DType::f8e5m2},
    NumberedType{31, DType::f8e4m3fnuz}, NumberedType{32, DType::f8e5m2fnuz},
    NumberedType{33, DType::f8e8m0fnu},  NumberedType{34, DType::u32},
    NumberedType{35, DType::u64},
};

// Modules of Python whose functions work on sizes.
constexpr std::array<std::string_view, 5> kSymbolicModules = {"_operator.", "operator.", "math.",
                                                              "builtins.", "torch."};

bool remove_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string torch_op(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::string(name);
  std::string op = std::string(name.substr(0, dot)) + "::";
  std::string_view rest = name.substr(dot + 1);
  constexpr std::string_view kDefault = ".default";
  if (rest.ends_with(kDefault)) rest.remove_suffix(kDefault.size());
  return op.append(rest);
}

std::string symbolic_op(std::string_view function) {
  if (!remove_prefix(function, "sym_")) remove_prefix(function, "_sym_");
  if (function.ends_with('_')) function.remove_suffix(1);
  return "sym::" + std::string(function);
}

}  // namespace

std::optional<DType> dtype_from_serialized(int64_t number) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const NumberedType& t) { return t.number == number; });
  if (found == kTypes.end()) return std::nullopt;
  return found->dtype;
}

std::optional<MemoryFormat> memory_format_from_serialized(int64_t number) {
  constexpr std::array kFormats = {MemoryFormat::contiguous, MemoryFormat::channels_last,
                                   MemoryFormat::channels_last_3d, MemoryFormat::preserve};
  if (number < 1 || number > static_cast<int64_t>(kFormats.size())) return std::nullopt;
  return kFormats[static_cast<size_t>(number - 1)];
}

std::string op_from_target(std::string_view target) {
  std::string_view rest = target;
  if (remove_prefix(rest, "torch.ops.")) return torch_op(rest);
  if (target == "math.pow") return "sym::float_pow";
  if (remove_prefix(rest, "#")) {
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return std::string(target);
    return std::string(rest.substr(0, colon)) + "::" + std::string(rest.substr(colon + 1));
  }
  for (const std::string_view module : kSymbolicModules) {
    if (remove_prefix(rest, module)) return symbolic_op(rest);
  }
  return std::string(target);
}

}  // namespace backplane
