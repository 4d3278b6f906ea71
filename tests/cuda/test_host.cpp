#include "test_host.hpp"

#include <backplane/graph.hpp>

namespace backplane::cuda {
namespace {

// The tables of C have no place for the object: tests have one host at a time.
TestHost* the_host = nullptr;

int32_t fail(const bp_host_t*, int32_t code, uint64_t node, bp_str_t text) {
  if (!the_host->reason.empty()) return code;
  the_host->reason = sdk::view(text);
  the_host->node = node;
  return code;
}
void log(const bp_host_t*, int32_t, bp_str_t text) {
  the_host->logs.emplace_back(sdk::view(text));
}
int32_t data_get(bp_source_t*, bp_str_t key, bp_blob_t* out) {
  const auto at = the_host->data.find(std::string(sdk::view(key)));
  if (at == the_host->data.end()) return BP_NOT_FOUND;
  *out = {at->second.data(), at->second.size() * sizeof(float), 64, 0, 0};
  if (const auto id = the_host->ids.find(at->first); id != the_host->ids.end())
    out->id_lo = id->second;
  ++the_host->held;
  return BP_OK;
}
void data_release(bp_source_t*, const bp_blob_t*) {
  --the_host->held;
}
int32_t resize_output(bp_ctx_t* ctx, uint32_t index, uint32_t ndim, const int64_t* shape) {
  return reinterpret_cast<TestRun*>(ctx)->resize(index, {shape, ndim});
}

}  // namespace

TestHost::TestHost() {
  the_host = this;
  table_.struct_size = sizeof table_;
  table_.log_level = BP_LOG_DEBUG;
  table_.fail = fail;
  table_.log = log;
  table_.data_get = data_get;
  table_.data_release = data_release;
  table_.resize_output = resize_output;
}

sdk::LoadRequest TestHost::request(std::span<const std::byte> payload) {
  load_ = {};
  load_.struct_size = sizeof load_;
  load_.payload = {payload.data(), payload.size(), 16, 0, 0};
  load_.source = reinterpret_cast<bp_source_t*>(this);
  load_.device = {BP_DEV_CUDA, 0};
  return {host(), load_};
}

sdk::Run TestRun::run(const TestHost& host) {
  tensors_.clear();
  for (auto* list : {&inputs, &outputs}) {
    for (Tensor& t : *list) {
      tensors_.push_back({t.memory, t.device, static_cast<int32_t>(t.shape.size()), sdk::kFloat32,
                          t.shape.data(), t.strides.data(), 0});
    }
    if (list != &inputs) continue;
    tensors_.push_back({&number, {BP_DEV_CPU, 0}, 0, {BP_DT_FLOAT, 64, 1}, nullptr, nullptr, 0});
  }
  run_ = {};
  run_.struct_size = sizeof run_;
  run_.flags = flags;
  run_.num_inputs = static_cast<uint32_t>(inputs.size()) + 1;
  run_.num_outputs = static_cast<uint32_t>(outputs.size());
  run_.inputs = tensors_.data();
  run_.outputs = tensors_.data() + run_.num_inputs;
  run_.stream = stream;
  run_.ctx = reinterpret_cast<bp_ctx_t*>(this);
  return {host.host(), run_};
}

int32_t TestRun::resize(uint32_t index, std::span<const int64_t> shape) {
  Tensor& t = outputs[index];
  size_t bytes = sizeof(float);
  for (const int64_t size : shape) bytes *= static_cast<size_t>(size);
  if (bytes > t.room) return BP_OUTPUT_TOO_SMALL;
  t.shape.assign(shape.begin(), shape.end());
  t.strides.assign(shape.size(), 1);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const size_t d = t.order.empty() ? i : static_cast<size_t>(t.order[i]);
    t.strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  bp_tensor_t& view = tensors_[run_.num_inputs + index];
  view.shape = t.shape.data();
  view.strides = t.strides.data();
  view.ndim = static_cast<int32_t>(shape.size());
  return BP_OK;
}

}  // namespace backplane::cuda
