#include "cuda/runtime/program.hpp"

#include <algorithm>

#include "cuda/runtime/instance.hpp"
#include "cuda/runtime/schedule.hpp"
#include "cuda/sizes.hpp"

namespace backplane::cuda {
namespace {

constexpr uint64_t kAlign = 256;

ContentId id_of(const bp_blob_t& blob) {
  return {blob.id_lo, blob.id_hi};
}

// Of a constant that is put together: another one for another order, place or size.
ContentId mixed(ContentId id, ContentId part, uint64_t offset, uint64_t size) {
  const auto mix = [](uint64_t a, uint64_t b) {
    const uint64_t product = (a ^ b) * 0x9e3779b97f4a7c15U;
    return product ^ (product >> 29U);
  };
  return {mix(mix(id.lo, part.lo), mix(offset, size)), mix(mix(id.hi, part.hi), mix(size, offset))};
}

std::vector<int64_t> constant_sizes(const PlanView& plan) {
  std::vector<int64_t> values;
  for (const Size& size : plan.sizes) {
    const Token& first = plan.tokens[size.tokens.first];
    const bool is_constant = size.tokens.count == 1 && first.op == BP_SYM_CONSTANT;
    values.push_back(is_constant ? first.value : 0);
  }
  return values;
}

}  // namespace

Result<std::unique_ptr<Program>> Program::load(sdk::Host host, Libraries& libraries,
                                               Devices& devices, const sdk::LoadRequest& request) {
  BP_ASSIGN_OR_RETURN(const PlanView plan, read_payload(request.payload));
  BP_ASSIGN_OR_RETURN(const Devices::InUse* in_use, devices.use(request.raw.device.index));
  std::unique_ptr<Program> program(new Program(host, libraries, *in_use, plan));
  BP_TRY(program->check_outputs());
  program->constants_ = constant_sizes(plan);
  program->addresses_.resize(plan.buffers.size());
  program->may_fault_ = std::find(plan.parameters.begin(), plan.parameters.end(),
                                  ParameterKind::fault) != plan.parameters.end();
  BP_ASSIGN_OR_RETURN(program->modules_, Modules::load(plan, *in_use->device, host));
  BP_TRY(program->bring_weights(request.data));
  BP_TRY(program->derive());
  return program;
}

Result<std::unique_ptr<Instance>> Program::instance(const bp_instance_args_t&) {
  return Instance::create(*this);
}

std::string Program::name() const {
  return "'" + std::string(text_of(plan_, plan_.summary[0].method)) + "'";
}

Status Program::check_outputs() const {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    if (plan_.buffers[plan_.outputs[i]].kind != BufferKind::output)
      return Error{Code::unsupported, "output " + std::to_string(i) + " is a number"};
  }
  return Ok{};
}

Result<WeightRequest> Program::request_for(const Buffer& buffer, const sdk::Data& data,
                                           std::vector<sdk::Datum>& held) const {
  WeightRequest request;
  request.size_bytes = static_cast<size_t>(constants_[buffer.bytes]);
  bool is_shared = true;
  for (const Part& part : plan_.parts.subspan(buffer.parts.first, buffer.parts.count)) {
    const std::string_view key = text_of(plan_, part.key);
    BP_ASSIGN_OR_RETURN(sdk::Datum datum, data.get(key));
    if (datum.bytes().size() != part.size || part.offset > request.size_bytes ||
        part.size > request.size_bytes - part.offset) {
      return Error{Code::incompatible,
                   "'" + std::string(key) + "' has " + std::to_string(datum.bytes().size()) +
                       " bytes, and the program was made for " + std::to_string(part.size)};
    }
    const ContentId id = id_of(datum.blob());
    is_shared = is_shared && id != ContentId{};
    const bool is_whole = buffer.parts.count == 1 && part.size == request.size_bytes;
    request.id = is_whole ? id : mixed(request.id, id, part.offset, part.size);
    request.parts.push_back({part.offset, datum.bytes()});
    held.push_back(std::move(datum));
  }
  if (!is_shared) request.id = {};
  return request;
}

Status Program::bring_weights(const sdk::Data& data) {
  std::vector<WeightRequest> requests;
  std::vector<uint32_t> buffers;
  std::vector<sdk::Datum> held;  // until their bytes have been read
  for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
    if (plan_.buffers[b].kind != BufferKind::weight) continue;
    BP_ASSIGN_OR_RETURN(WeightRequest request, request_for(plan_.buffers[b], data, held));
    requests.push_back(std::move(request));
    buffers.push_back(b);
  }
  BP_ASSIGN_OR_RETURN(weights_, in_use_.weights->get(requests, "the weights of " + name()));
  for (size_t i = 0; i < buffers.size(); ++i)
    addresses_[buffers[i]] = weights_[i] == nullptr ? 0 : weights_[i]->address();
  return Ok{};
}

// Makes what the setup steps make, once.
Status Program::derive() {
  uint64_t bytes = 0;
  std::vector<std::pair<uint32_t, uint64_t>> places;
  for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
    if (plan_.buffers[b].kind != BufferKind::derived) continue;
    places.emplace_back(b, bytes);
    const auto size = static_cast<uint64_t>(constants_[plan_.buffers[b].bytes]);
    bytes += (size + kAlign - 1) / kAlign * kAlign;
  }
  if (bytes != 0) {
    BP_ASSIGN_OR_RETURN(derived_,
                        DeviceBuffer::allocate(device(), bytes, "the merged weights of " + name()));
    for (const auto& [buffer, offset] : places) addresses_[buffer] = derived_.address() + offset;
  }
  const uint32_t count = plan_.summary[0].num_setup_steps;
  if (count == 0) return Ok{};
  LibraryHandles handles(libraries_, device());
  const SchedulePlace place{plan_, device(), *modules_, handles, host_};
  BP_ASSIGN_OR_RETURN(const std::unique_ptr<Schedule> setup,
                      Schedule::build(place, constants_, 0, count, {}));
  DeviceBuffer workspace;
  if (setup->arena_bytes() != 0) {
    BP_ASSIGN_OR_RETURN(
        workspace, DeviceBuffer::allocate(device(), setup->arena_bytes(), "loading " + name()));
  }
  setup->settle(addresses_, workspace.address());
  const Current current(device());
  BP_TRY(setup->enqueue(device().stream()));
  return device().driver().check(device().driver().stream_synchronize(device().stream()),
                                 "loading " + name());
}

}  // namespace backplane::cuda
