#include "program_builder.hpp"

#include <numeric>
#include <random>

namespace backplane::test {

TemporaryFolder::TemporaryFolder() {
  std::random_device random;
  path_ = std::filesystem::temp_directory_path() / ("backplane-test-" + std::to_string(random()));
  std::filesystem::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ValueIndex MethodBuilder::value(pte::Value value) {
  plan_.values.push_back(std::move(value));
  return static_cast<ValueIndex>(plan_.values.size()) - 1;
}

ValueIndex MethodBuilder::tensor(pte::Tensor tensor, std::vector<int32_t> sizes) {
  tensor.layout.dim_order.resize(sizes.size());
  std::iota(tensor.layout.dim_order.begin(), tensor.layout.dim_order.end(), uint8_t{0});
  tensor.layout.sizes = std::move(sizes);
  if (tensor.allocation) {
    auto& buffers = plan_.non_const_buffer_sizes;
    const uint32_t id = tensor.allocation->memory_id;
    if (buffers.size() <= id) buffers.resize(id + 1, 0);
    tensor.allocation->offset = buffers[id];
    buffers[id] += (static_cast<uint64_t>(*checked_nbytes(tensor.layout)) + 63) / 64 * 64;
  }
  return value(std::move(tensor));
}

ValueIndex MethodBuilder::loose(std::vector<int32_t> sizes, ShapeDynamism dynamism, DType dtype) {
  pte::Tensor t{.dynamism = dynamism};
  t.layout.dtype = dtype;
  return tensor(std::move(t), std::move(sizes));
}

ValueIndex MethodBuilder::planned(std::vector<int32_t> sizes, ShapeDynamism dynamism, DType dtype) {
  pte::Tensor t{.dynamism = dynamism, .allocation = pte::Allocation{1, 0}};
  t.layout.dtype = dtype;
  return tensor(std::move(t), std::move(sizes));
}

ValueIndex MethodBuilder::constant(std::vector<int32_t> sizes, uint32_t data_index) {
  return tensor({.data_index = data_index}, std::move(sizes));
}

ValueIndex MethodBuilder::external(std::vector<int32_t> sizes, std::string fqn) {
  return tensor({.external = true, .fqn = std::move(fqn)}, std::move(sizes));
}

ValueIndex MethodBuilder::state(std::vector<int32_t> sizes, std::string fqn, uint32_t data_index) {
  return tensor(
      {.data_index = data_index, .allocation = pte::Allocation{2, 0}, .fqn = std::move(fqn)},
      std::move(sizes));
}

int32_t MethodBuilder::next() const {
  return static_cast<int32_t>(plan_.chains[0].instructions.size());
}

int32_t MethodBuilder::call(const std::string& op, std::vector<ValueIndex> args) {
  const size_t dot = op.find('.');
  pte::Operator named{op.substr(0, dot), dot == std::string::npos ? "" : op.substr(dot + 1)};
  size_t index = 0;
  while (index < plan_.operators.size() && !(plan_.operators[index] == named)) ++index;
  if (index == plan_.operators.size()) plan_.operators.push_back(std::move(named));
  plan_.chains[0].instructions.push_back(
      pte::KernelCall{static_cast<int32_t>(index), std::move(args)});
  return next() - 1;
}

int32_t MethodBuilder::delegate(pte::Delegate delegate, std::vector<ValueIndex> args) {
  plan_.delegates.push_back(std::move(delegate));
  const auto index = static_cast<int32_t>(plan_.delegates.size()) - 1;
  plan_.chains[0].instructions.push_back(pte::DelegateCall{index, std::move(args)});
  return next() - 1;
}

int32_t MethodBuilder::move(ValueIndex from, ValueIndex to) {
  plan_.chains[0].instructions.push_back(pte::MoveCall{from, to});
  return next() - 1;
}

int32_t MethodBuilder::jump_if_false(ValueIndex condition, int32_t destination) {
  plan_.chains[0].instructions.push_back(pte::JumpFalseCall{condition, destination});
  return next() - 1;
}

void MethodBuilder::land(int32_t jump) {
  auto& instruction = plan_.chains[0].instructions[static_cast<size_t>(jump)];
  std::get<pte::JumpFalseCall>(instruction).destination = next();
}

void MethodBuilder::jump_to(int32_t destination) {
  jump_if_false(value(false), destination);
}

pte::Delegate delegate_of(std::string id, runtime::DelegateIo io, Bytes payload) {
  return {std::move(id), {{std::string(runtime::kDelegateIoKey), encode(io)}}, payload};
}

Bytes ProgramFile::floats(std::vector<float> values) {
  owned.push_back(std::move(values));
  return std::as_bytes(std::span(owned.back()));
}

uint32_t ProgramFile::constant(std::vector<float> values) {
  if (program.constants.empty()) program.constants.emplace_back();
  program.constants.push_back(floats(std::move(values)));
  return static_cast<uint32_t>(program.constants.size()) - 1;
}

uint32_t ProgramFile::initial_state(std::vector<float> values) {
  if (program.mutable_data.empty()) program.mutable_data.emplace_back();
  program.mutable_data.push_back(floats(std::move(values)));
  return static_cast<uint32_t>(program.mutable_data.size()) - 1;
}

std::string ProgramFile::write(
    const TemporaryFolder& folder, const std::string& name,
    const std::vector<std::pair<std::string, std::vector<float>>>& weights) {
  const std::string path = folder.path(name);
  std::string record_json;
  std::string set;
  if (!weights.empty()) {
    runtime::DataRecord record;
    record.file = std::filesystem::path(name).stem().string() + ".ptd";
    ptd::DataFile data;
    for (const auto& [key, values] : weights) {
      const Bytes bytes = floats(values);
      record.data.push_back({key, bytes.size(), sha256(bytes), ""});
      data.data.push_back({.key = key, .data = bytes, .alignment = 64});
    }
    record.set_id = set = set_id_of(record.data);
    data.data.push_back(
        {.key = std::string(runtime::kSetKey), .data = std::as_bytes(std::span(set))});
    REQUIRE(ptd::write(data, {}, folder.path(record.file)).ok());
    record_json = runtime::write(record);
    program.named_data.push_back({.key = std::string(runtime::kDataRecordKey),
                                  .data = std::as_bytes(std::span(record_json))});
  }
  const std::string signature_json = runtime::write(signature);
  if (!signature.methods.empty()) {
    program.named_data.push_back({.key = std::string(runtime::kSignatureKey),
                                  .data = std::as_bytes(std::span(signature_json))});
  }
  const Status written = pte::write(program, {}, path);
  if (!written.ok()) FAIL(written.error().message);
  program.named_data.clear();
  return path;
}

}  // namespace backplane::test
