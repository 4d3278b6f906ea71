#include <algorithm>

#include "format/container.hpp"
#include "format/file_sink.hpp"
#include "format/pte_plan.hpp"
#include "format/segments.hpp"

namespace backplane::pte {
namespace {

// Where things lie that the metadata refers to.
struct Layout {
  Segments segments;
  std::vector<uint64_t> constant_offsets;
  std::optional<uint32_t> mutable_segment;
  std::vector<uint64_t> mutable_offsets;
  std::vector<std::vector<PayloadPlace>> payloads;  // of each plan
  std::vector<uint32_t> named_data;                 // segment of each
  bool empty_payload = false;  // some delegate has none: inline datum 0 stands for it
};

Layout lay_out(const Program& program, const WriteOptions& options) {
  Layout layout;
  const std::vector<Bytes> placeholder(1);
  const auto& constants = program.constants.empty() ? placeholder : program.constants;
  layout.segments.add_parts(constants, options.constant_alignment, layout.constant_offsets);
  if (std::any_of(program.mutable_data.begin(), program.mutable_data.end(),
                  [](Bytes bytes) { return !bytes.empty(); })) {
    layout.mutable_segment =
        layout.segments.add_parts(program.mutable_data, 1, layout.mutable_offsets);
  }
  for (const Plan& plan : program.plans) {
    auto& places = layout.payloads.emplace_back();
    for (const Delegate& delegate : plan.delegates) {
      const bool empty = delegate.payload.empty();
      layout.empty_payload = layout.empty_payload || empty;
      places.push_back(empty ? PayloadPlace{}
                             : PayloadPlace{fb::DataLocation::SEGMENT,
                                            layout.segments.add(delegate.payload, 1)});
    }
  }
  for (const NamedData& datum : program.named_data) {
    layout.named_data.push_back(layout.segments.add(datum.data, datum.alignment));
  }
  layout.segments.place(options.segment_alignment);
  return layout;
}

void pack(const Program& program, const Layout& layout, Packer& packer) {
  auto& builder = packer.builder();
  std::vector<flatbuffers::Offset<fb::ExecutionPlan>> plans;
  for (size_t i = 0; i < program.plans.size() && !packer.full(); ++i) {
    plans.push_back(pack_plan(program.plans[i], layout.payloads[i], packer));
  }
  std::vector<flatbuffers::Offset<fb::BackendDelegateInlineData>> inlined;
  if (layout.empty_payload) {
    const auto no_bytes = packer.list(std::vector<uint8_t>());
    inlined.push_back(fb::CreateBackendDelegateInlineData(builder, no_bytes));
  }
  std::vector<flatbuffers::Offset<fb::DataSegment>> segments;
  for (const Segments::Segment& segment : layout.segments.list()) {
    segments.push_back(fb::CreateDataSegment(builder, segment.offset, segment.size));
  }
  std::vector<flatbuffers::Offset<fb::SubsegmentOffsets>> states;
  if (layout.mutable_segment) {
    const auto offsets = packer.list(layout.mutable_offsets);
    states.push_back(fb::CreateSubsegmentOffsets(builder, *layout.mutable_segment, offsets));
  }
  std::vector<flatbuffers::Offset<fb::NamedData>> named;
  for (size_t i = 0; i < program.named_data.size() && !packer.full(); ++i) {
    const auto key = packer.text(program.named_data[i].key);
    named.push_back(fb::CreateNamedData(builder, key, layout.named_data[i]));
  }
  const auto constant_segment =
      fb::CreateSubsegmentOffsets(builder, 0, packer.list(layout.constant_offsets));
  // Readers may take every list to be there.
  const auto plan_list = packer.list(plans);
  const auto constant_buffer = packer.list(std::vector<flatbuffers::Offset<fb::Buffer>>());
  const auto inlined_list = packer.list(inlined);
  const auto segment_list = packer.list(segments);
  const auto state_list = packer.list(states);
  const auto named_list = packer.list(named);
  builder.Finish(
      fb::CreateProgram(builder, program.version, plan_list, constant_buffer, inlined_list,
                        segment_list, constant_segment, state_list, named_list),
      fb::ProgramIdentifier());
}

}  // namespace

Status write(const Program& program, const WriteOptions& options, ByteSink& sink) {
  BP_TRY(check(program));
  BP_TRY(check_alignment(options.segment_alignment, 16, "segments"));
  BP_TRY(check_alignment(options.constant_alignment, 16, "constants"));
  const Layout layout = lay_out(program, options);
  Packer packer;
  pack(program, layout, packer);
  if (packer.full()) {
    return Error{Code::invalid_argument,
                 "the program's metadata, compile specs included, is over 1 GiB"};
  }
  const auto& builder = packer.builder();
  const auto metadata = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  BP_TRY(append_container(kPteContainer, metadata, layout.segments.size_bytes(),
                          layout.segments.base_alignment(), sink));
  return layout.segments.append(sink);
}

Status write(const Program& program, const WriteOptions& options, const std::string& path) {
  BP_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  BP_TRY(write(program, options, sink));
  return sink.commit();
}

}  // namespace backplane::pte
