// Signatures out of JSON: lists of objects with one field, whose key is the kind.
#include "reader/signature.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace backplane {

using JsonValue = json::Value;

namespace {

struct InputKind {
  std::string_view tag;
  InputSpec::Kind kind;
  std::string_view target_key;
};

constexpr std::array kInputKinds = {
    InputKind{"user_input", InputSpec::Kind::user, ""},
    InputKind{"constant_input", InputSpec::Kind::user, ""},
    InputKind{"parameter", InputSpec::Kind::parameter, "parameter_name"},
    InputKind{"buffer", InputSpec::Kind::buffer, "buffer_name"},
    InputKind{"tensor_constant", InputSpec::Kind::constant, "tensor_constant_name"},
    InputKind{"custom_obj", InputSpec::Kind::other, ""},
    InputKind{"token", InputSpec::Kind::other, ""},
};

struct OutputKind {
  std::string_view tag;
  OutputSpec::Kind kind;
  std::string_view target_key;
};

constexpr std::array kOutputKinds = {
    OutputKind{"user_output", OutputSpec::Kind::user, ""},
    OutputKind{"loss_output", OutputSpec::Kind::user, ""},
    OutputKind{"buffer_mutation", OutputSpec::Kind::buffer_mutation, "buffer_name"},
    OutputKind{"parameter_mutation", OutputSpec::Kind::buffer_mutation, "parameter_name"},
    OutputKind{"user_input_mutation", OutputSpec::Kind::input_mutation, "user_input_name"},
    OutputKind{"gradient_to_parameter", OutputSpec::Kind::gradient, ""},
    OutputKind{"gradient_to_user_input", OutputSpec::Kind::gradient, ""},
    OutputKind{"token", OutputSpec::Kind::token, ""},
};

Status read_text_to(JsonValue& value, ReadContext& context, std::string& out) {
  BP_ASSIGN_OR_RETURN(out, json::read_text(value, context.module.strings));
  return Ok{};
}

Status read_input_spec(JsonValue& fields, const InputKind& kind, ReadContext& context,
                       InputSpec& spec) {
  spec.kind = kind.kind;
  return json::for_each_field(fields, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "arg" && !kind.target_key.empty()) {
      return json::for_each_field(value, [&](std::string_view field, JsonValue& name) -> Status {
        return field == "name" ? read_text_to(name, context, spec.name) : Status(Ok{});
      });
    }
    if (key == "name") return read_text_to(value, context, spec.name);  // of a constant_input
    if (!kind.target_key.empty() && key == kind.target_key) {
      return read_text_to(value, context, spec.target);
    }
    if (key == "persistent" && !json::is_null(value)) {
      BP_ASSIGN_OR_RETURN(spec.persistent, json::read_bool(value));
    }
    return Ok{};
  });
}

Status read_output_spec(JsonValue& fields, const OutputKind& kind, ReadContext& context,
                        OutputSpec& spec) {
  spec.kind = kind.kind;
  return json::for_each_field(fields, [&](std::string_view key, JsonValue& value) -> Status {
    if (kind.target_key.empty() || key != kind.target_key) return Ok{};
    return read_text_to(value, context, spec.target);
  });
}

// A list of specs, each by the table of its kinds.
template <class Spec, class Kinds, class F>
Status read_specs(JsonValue& array, const Kinds& kinds, std::vector<Spec>& out, F read) {
  return json::for_each_element(array, [&](JsonValue& element) -> Status {
    return json::for_only_field(element, [&](std::string_view tag, JsonValue& fields) -> Status {
      const auto kind =
          std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.tag == tag; });
      if (kind == kinds.end()) {
        return Error{Code::unsupported,
                     "inputs or outputs of kind '" + std::string(tag) + "' are not known"};
      }
      return read(fields, *kind, out.emplace_back());
    });
  });
}

}  // namespace

Result<Signature> read_signature(JsonValue& object, ReadContext& context) {
  Signature signature;
  BP_TRY(json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "input_specs") {
      return read_specs(value, kInputKinds, signature.inputs,
                        [&](JsonValue& fields, const InputKind& kind, InputSpec& spec) {
                          return read_input_spec(fields, kind, context, spec);
                        });
    }
    if (key == "output_specs") {
      return read_specs(value, kOutputKinds, signature.outputs,
                        [&](JsonValue& fields, const OutputKind& kind, OutputSpec& spec) {
                          return read_output_spec(fields, kind, context, spec);
                        });
    }
    return Ok{};
  }));
  return signature;
}

}  // namespace backplane
