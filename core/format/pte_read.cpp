#include <algorithm>

#include "format/container.hpp"
#include "format/pte_plan.hpp"

namespace backplane::pte {
namespace {

using Sizes = std::vector<uint64_t>;

Bytes bytes_of(const flatbuffers::Vector<uint8_t>* from) {
  if (from == nullptr) return {};
  return std::as_bytes(std::span(from->Data(), from->size()));
}

// What the tensors need of each constant, or of each initial state: only they know.
Sizes sizes_needed(const std::vector<Plan>& plans, bool initial_state, size_t count) {
  Sizes needed(count);
  for (const Plan& plan : plans) {
    for (const Value& value : plan.values) {
      const auto* tensor = std::get_if<Tensor>(&value);
      if (tensor == nullptr || tensor->external || tensor->data_index == 0) continue;
      if (tensor->allocation.has_value() != initial_state || tensor->data_index >= count) continue;
      const auto nbytes = static_cast<uint64_t>(checked_nbytes(tensor->layout).value_or(0));
      needed[tensor->data_index] = std::max(needed[tensor->data_index], nbytes);
    }
  }
  return needed;
}

// The parts of one segment, each as large as the tensors need.
Result<std::vector<Bytes>> parts_of(const fb::SubsegmentOffsets& from, const Payloads& payloads,
                                    const std::vector<Plan>& plans, bool initial_state) {
  const auto* offsets = from.offsets();
  if (offsets == nullptr || offsets->size() == 0) return std::vector<Bytes>();
  if (from.segment_index() >= payloads.segments.size()) {
    return damaged("segment " + std::to_string(from.segment_index()) +
                   " does not exist, there are " + std::to_string(payloads.segments.size()));
  }
  const Bytes segment = payloads.segments[from.segment_index()];
  const Sizes needed = sizes_needed(plans, initial_state, offsets->size());
  std::vector<Bytes> parts;
  for (uint32_t i = 0; i < offsets->size(); ++i) {
    const uint64_t offset = offsets->Get(i);
    if (offset > segment.size() || needed[i] > segment.size() - offset) {
      return damaged(std::to_string(i) + " is " + std::to_string(needed[i]) + " bytes at " +
                     std::to_string(offset) + ", the segment has " +
                     std::to_string(segment.size()));
    }
    parts.push_back(segment.subspan(offset, needed[i]));
  }
  return parts;
}

Status add_constants(const fb::Program& from, const Payloads& payloads, Program& program) {
  // One entry is the placeholder alone.
  const auto* segment = from.constant_segment();
  const auto* buffers = from.constant_buffer();
  const bool in_segment =
      segment != nullptr && segment->offsets() != nullptr && segment->offsets()->size() > 1;
  const bool in_buffers = buffers != nullptr && buffers->size() > 1;
  if (in_segment && in_buffers) {
    return damaged("there are constants both in constant_segment and in constant_buffer");
  }
  if (in_buffers) {
    for (const auto* buffer : *buffers) program.constants.push_back(bytes_of(buffer->storage()));
    program.constants.front() = {};
  } else if (segment != nullptr) {
    auto constants = parts_of(*segment, payloads, program.plans, false);
    if (!constants.ok()) return std::move(constants).error().in("constant");
    program.constants = std::move(constants).value();
  }
  const auto* states = from.mutable_data_segments();
  if (states == nullptr || states->size() == 0) return Ok{};
  if (states->size() > 1) {
    return Error{Code::unsupported,
                 std::to_string(states->size()) + " mutable data segments, only one is supported"};
  }
  auto initial = parts_of(*states->Get(0), payloads, program.plans, true);
  if (!initial.ok()) return std::move(initial).error().in("initial state");
  program.mutable_data = std::move(initial).value();
  return Ok{};
}

Status add_named_data(const fb::Program& from, const Payloads& payloads, Unpacker& unpacker,
                      Program& program) {
  for (uint32_t i = 0; from.named_data() != nullptr && i < from.named_data()->size(); ++i) {
    const fb::NamedData& datum = *from.named_data()->Get(i);
    std::string key = unpacker.text(datum.key());
    if (datum.segment_index() >= payloads.segments.size()) {
      return damaged("named datum " + quoted(key) + ": segment " +
                     std::to_string(datum.segment_index()) + " does not exist, there are " +
                     std::to_string(payloads.segments.size()));
    }
    program.named_data.push_back({std::move(key), payloads.segments[datum.segment_index()]});
  }
  std::sort(program.named_data.begin(), program.named_data.end(),
            [](const NamedData& a, const NamedData& b) { return a.key < b.key; });
  return Ok{};
}

Result<Program> read(Bytes file) {
  BP_ASSIGN_OR_RETURN(const Container container, find_container(kPteContainer, file));
  BP_ASSIGN_OR_RETURN(const fb::Program* root,
                      verified_root<fb::Program>(container.metadata, kPteContainer.identifier));
  Unpacker unpacker(container.metadata);
  Payloads payloads;
  BP_ASSIGN_OR_RETURN(payloads.segments, unpack_segments(root->segments(), container.segments));
  for (uint32_t i = 0; root->backend_delegate_data() && i < root->backend_delegate_data()->size();
       ++i) {
    payloads.inlined.push_back(bytes_of(root->backend_delegate_data()->Get(i)->data()));
  }
  if (root->execution_plan() == nullptr) return damaged("there are no methods");
  Program program{.version = root->version()};
  for (const auto* plan : *root->execution_plan()) {
    BP_ASSIGN_OR_RETURN(Plan unpacked, unpack_plan(*plan, payloads, unpacker));
    program.plans.push_back(std::move(unpacked));
  }
  BP_TRY(add_named_data(*root, payloads, unpacker, program));
  BP_TRY(unpacker.status());
  BP_TRY(add_constants(*root, payloads, program));
  BP_TRY(check(program));
  return program;
}

}  // namespace

Result<Program> read(Bytes file, std::string_view file_name) {
  Result<Program> program = read(file);
  if (program.ok()) return program;
  return std::move(program).error().in(file_name);
}

}  // namespace backplane::pte
