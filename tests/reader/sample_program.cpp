#include "sample_program.hpp"

namespace backplane::testing {
namespace {

constexpr const char* kType =
    R"({"dtype": 7, "sizes": [{"as_int": 4}], "requires_grad": false, "device": {"type": "cuda",
    "index": 0}, "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7})";

constexpr const char* kGraph = R"("graph": {
  "inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}],
  "outputs": [{"as_tensor": {"name": "y"}}],
  "nodes": [
    {"target": "torch.ops.aten.add.Tensor", "inputs": [
       {"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
       {"name": "other", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "sum"}}], "metadata": {}, "name": "sum"},
    {"target": "torch.ops.aten.mul.Tensor", "inputs": [
       {"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
       {"name": "other", "arg": {"as_int": 2}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "u"}}], "metadata": {}},
    {"target": "torch.ops.aten.relu.default", "inputs": [
       {"name": "self", "arg": {"as_tensor": {"name": "sum"}}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}}],
  "tensor_values": {"p_w": $, "x": $, "sum": $, "u": $, "y": $},
  "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": false})";

constexpr const char* kSignature = R"("signature": {
  "input_specs": [
    {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
    {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
  "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]})";

std::string with_types(std::string text) {
  for (size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, kType);
  return text;
}

}  // namespace

SampleProgram::SampleProgram()
    : program("{\"graph_module\": {" + with_types(kGraph) + ", " + kSignature +
              R"(}, "opset_version": {"aten": 10}, "range_constraints": {},
                 "schema_version": {"major": 8, "minor": 99}, "from_the_future": [1, {"a": 2}]})"),
      weights(with_types(R"({"config": {"w": {"path_name": "weight_0", "is_param": true,
                            "use_pickle": false, "tensor_meta": $}}})")),
      storage(16, '\0'),
      others({{.name = "m/archive_format", .data = "pt2"},
              {.name = "m/archive_version", .data = "0"},
              {.name = "m/byteorder", .data = "little"}}) {}

std::string SampleProgram::file() const {
  std::vector<ZipEntry> entries = {
      {.name = "m/models/model.json", .data = program},
      {.name = "m/data/weights/model_weights_config.json", .data = weights},
      {.name = "m/data/weights/weight_0", .data = storage, .alignment = 64}};
  entries.insert(entries.end(), others.begin(), others.end());
  return make_zip(entries, true);
}

}  // namespace backplane::testing
