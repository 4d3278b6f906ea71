#include "tensors/npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensors/named_tensor.hpp"

namespace backplane::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyType {
  DType dtype;
  std::string_view code;  // after the byte order
};

constexpr std::array kTypes = {
    NpyType{DType::boolean, "b1"}, NpyType{DType::u8, "u1"},    NpyType{DType::u16, "u2"},
    NpyType{DType::u32, "u4"},     NpyType{DType::u64, "u8"},   NpyType{DType::i8, "i1"},
    NpyType{DType::i16, "i2"},     NpyType{DType::i32, "i4"},   NpyType{DType::i64, "i8"},
    NpyType{DType::f16, "f2"},     NpyType{DType::f32, "f4"},   NpyType{DType::f64, "f8"},
    NpyType{DType::c64, "c8"},     NpyType{DType::c128, "c16"}, NpyType{DType::bf16, "V2"},
};

struct Header {
  std::string descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

Error damaged(std::string what) {
  return {Code::invalid_argument, std::move(what)};
}

// Reads the header, a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape':
// (3,)}.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<Header> parse() {
    Header header;
    if (!take('{')) return unexpected("'{'");
    while (!take('}')) {
      BP_TRY(parse_entry(header));
      if (!take(',') && peek() != '}') return unexpected("',' or '}'");
    }
    if (peek() != '\0') return unexpected("the end");
    if (header.descr.empty() || !header.fortran_order || !header.shape) {
      return damaged("its header lacks 'descr', 'fortran_order' or 'shape'");
    }
    return header;
  }

 private:
  Status parse_entry(Header& header) {
    BP_ASSIGN_OR_RETURN(const std::string key, parse_string());
    if (!take(':')) return unexpected("':'");
    if (key == "descr" && header.descr.empty()) {
      if (peek() == '[') {
        return Error{Code::unsupported,
                     "it holds records; arrays of one number type are supported"};
      }
      BP_ASSIGN_OR_RETURN(header.descr, parse_string());
    } else if (key == "fortran_order" && !header.fortran_order) {
      BP_ASSIGN_OR_RETURN(header.fortran_order, parse_bool());
    } else if (key == "shape" && !header.shape) {
      BP_ASSIGN_OR_RETURN(header.shape, parse_shape());
    } else {
      return damaged("its header has an unknown or repeated entry '" + key + "'");
    }
    return Ok{};
  }

  Result<std::string> parse_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return unexpected("a quoted text");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return damaged("its header has a text without an end");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  Result<bool> parse_bool() {
    peek();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::strlen(word);
        return value;
      }
    }
    return unexpected("True or False");
  }

  Result<std::vector<int64_t>> parse_shape() {
    std::vector<int64_t> shape;
    if (!take('(')) return unexpected("'('");
    while (!take(')')) {
      peek();
      int64_t size = 0;
      const char* end = text_.data() + text_.size();
      const auto [next, error] = std::from_chars(text_.data() + at_, end, size);
      if (error != std::errc()) return unexpected("a size below 2^63");
      at_ = static_cast<size_t>(next - text_.data());
      take('L');  // Python 2 wrote long integers so
      shape.push_back(size);
      if (!take(',') && peek() != ')') return unexpected("',' or ')'");
    }
    return shape;
  }

  // The next character that is not a space; '\0' at the end.
  char peek() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  Error unexpected(std::string_view wanted) const {
    return damaged("its header has no " + std::string(wanted) + " at character " +
                   std::to_string(at_));
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct ElementType {
  DType dtype;
  bool swapped;
};

Result<ElementType> element_type(std::string_view descr) {
  const std::string_view code = descr.substr(1);
  for (const NpyType& type : kTypes) {
    if (type.code != code) continue;
    const bool has_order = size_of(type.dtype) > 1 && type.dtype != DType::bf16;
    const std::string_view orders = has_order ? "<>=" : "<>=|";
    if (orders.find(descr[0]) == std::string_view::npos) break;
    return ElementType{type.dtype, has_order && descr[0] == '>'};
  }
  return Error{Code::unsupported, "its element type '" + std::string(descr) +
                                      "' is not supported; booleans, integers, floats of 16 to 64 "
                                      "bits and complex numbers are"};
}

void swap_bytes(Tensor& tensor) {
  const size_t width = size_of(tensor.dtype()) / (is_complex(tensor.dtype()) ? 2 : 1);
  const std::span<std::byte> bytes = tensor.bytes();
  for (size_t at = 0; at < bytes.size(); at += width) {
    std::reverse(&bytes[at], &bytes[at] + width);
  }
}

}  // namespace

Result<Tensor> parse_npy(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic)) return damaged("it does not begin like a .npy file");
  if (text.size() < 12) return damaged("it is cut short in its header");
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(file[i]); };
  const uint32_t version = byte(6);
  if (version < 1 || version > 3) {
    return Error{Code::unsupported,
                 "its format is version " + std::to_string(version) + ", 1 to 3 are supported"};
  }
  const size_t begin = version == 1 ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > text.size() - begin) {
    return damaged("its header of " + std::to_string(length) + " bytes is cut short");
  }
  BP_ASSIGN_OR_RETURN(Header header, HeaderParser(text.substr(begin, length)).parse());
  BP_ASSIGN_OR_RETURN(const ElementType type, element_type(header.descr));
  BP_ASSIGN_OR_RETURN(Tensor tensor,
                      tensor_from_bytes(type.dtype, std::move(*header.shape),
                                        file.subspan(begin + length), *header.fortran_order));
  if (type.swapped) swap_bytes(tensor);
  return tensor;
}

Status write_npy(ByteSink& sink, const TensorView& tensor) {
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const NpyType& t) { return t.dtype == tensor.dtype; });
  if (type == kTypes.end()) {
    return Error{Code::unsupported, ".npy has no element type " +
                                        std::string(name_of(tensor.dtype)) +
                                        "; .safetensors may have"};
  }
  std::string header = "{'descr': '";
  header += size_of(tensor.dtype) == 1 ? '|' : '<';
  header += std::string(type->code) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : tensor.sizes) header += std::to_string(size) + ",";
  header += "), }";
  // So that the data begin at a multiple of 64.
  const size_t prefix = kMagic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';

  std::string head(kMagic);
  head += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF),
           static_cast<char>(header.size() >> 8)};
  head += header;
  BP_TRY(sink.append(std::as_bytes(std::span(head))));
  return append_elements(sink, tensor);
}

}  // namespace backplane::cli
