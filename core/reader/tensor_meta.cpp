// Types of tensors and their symbolic sizes, out of JSON.
#include "reader/tensor_meta.hpp"

#include <backplane/tensor.hpp>

#include <optional>
#include <string>

#include "reader/serialized.hpp"

namespace backplane {

using JsonValue = json::Value;

Result<SymInt> read_sym_int(JsonValue& object, ReadContext& context) {
  SymInt result = 0;
  BP_TRY(json::for_only_field(object, [&](std::string_view tag, JsonValue& value) -> Status {
    if (tag == "as_int") {
      BP_ASSIGN_OR_RETURN(result, json::read_int(value));
      return Ok{};
    }
    if (tag != "as_expr") return json::malformed("a size is neither a number nor an expression");
    std::string_view text;
    std::optional<int64_t> hint;
    BP_TRY(json::for_each_field(value, [&](std::string_view key, JsonValue& field) -> Status {
      if (key == "expr_str") {
        BP_ASSIGN_OR_RETURN(text, json::read_text(field, context.module.strings));
      } else if (key == "hint" && !json::is_null(field)) {
        return json::for_only_field(field, [&](std::string_view kind, JsonValue& number) -> Status {
          if (kind != "as_int") return Ok{};
          BP_ASSIGN_OR_RETURN(hint, json::read_int(number));
          return Ok{};
        });
      }
      return Ok{};
    }));
    BP_ASSIGN_OR_RETURN(result, context.symbolic.read(text, hint));
    return Ok{};
  }));
  return result;
}

namespace {

Status read_sym_ints(JsonValue& array, ReadContext& context, std::vector<SymInt>& out) {
  return json::for_each_element(array, [&](JsonValue& element) -> Status {
    BP_ASSIGN_OR_RETURN(const SymInt value, read_sym_int(element, context));
    out.push_back(value);
    return Ok{};
  });
}

Status check_type(const TensorType& type) {
  std::vector<int64_t> sizes;
  for (const SymInt size : type.sizes) sizes.push_back(size.is_constant() ? size.constant() : 1);
  return checked_nbytes(type.dtype, sizes).ok()
             ? Status(Ok{})
             : Error{Code::invalid_argument, "a tensor of sizes " + format_sizes(sizes) +
                                                 " can't be: a size is negative or they are too "
                                                 "large"};
}

}  // namespace

Result<TensorMeta> read_tensor_meta(JsonValue& object, ReadContext& context) {
  TensorMeta meta;
  BP_TRY(json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "sizes") return read_sym_ints(value, context, meta.type.sizes);
    if (key == "strides") return read_sym_ints(value, context, meta.type.strides);
    if (key == "storage_offset") {
      BP_ASSIGN_OR_RETURN(meta.storage_offset, read_sym_int(value, context));
    } else if (key == "dtype") {
      BP_ASSIGN_OR_RETURN(const int64_t number, json::read_int(value));
      const auto dtype = dtype_from_serialized(number);
      if (dtype) meta.type.dtype = *dtype;
      if (!dtype) meta.fault = "has element type " + std::to_string(number) + ", which is unknown";
    } else if (key == "layout") {
      BP_ASSIGN_OR_RETURN(const int64_t number, json::read_int(value));
      if (number != kSerializedStrided) {
        meta.fault = "has layout " + std::to_string(number) + "; only strided tensors can be used";
      }
    }
    return Ok{};
  }));
  if (meta.fault.empty() && meta.type.strides.size() != meta.type.sizes.size()) {
    meta.fault = "has other numbers of sizes and strides";
  }
  BP_TRY(check_type(meta.type));
  return meta;
}

}  // namespace backplane
