#include "format/ptd.hpp"

#include <algorithm>

#include "flat_tensor_generated.h"
#include "format/container.hpp"
#include "format/file_sink.hpp"
#include "format/segments.hpp"
#include "format/unpack.hpp"

namespace backplane::ptd {
namespace {

namespace fb = flat_tensor_flatbuffer;

Result<NamedData> unpack(const fb::NamedData& from, const std::vector<Bytes>& segments,
                         Unpacker& unpacker) {
  NamedData datum{.key = unpacker.text(from.key())};
  const std::string name = "named datum " + quoted(datum.key);
  if (from.segment_index() >= segments.size()) {
    return damaged(name + ": segment " + std::to_string(from.segment_index()) +
                   " does not exist, there are " + std::to_string(segments.size()));
  }
  datum.data = segments[from.segment_index()];
  if (from.tensor_layout() == nullptr) return datum;
  auto layout = unpack_layout(*from.tensor_layout(), unpacker);
  if (!layout.ok()) return std::move(layout).error().in(name);
  datum.layout = std::move(layout).value();
  return datum;
}

Result<DataFile> read(Bytes file) {
  BP_ASSIGN_OR_RETURN(const Container container, find_container(kPtdContainer, file));
  BP_ASSIGN_OR_RETURN(const fb::FlatTensor* root,
                      verified_root<fb::FlatTensor>(container.metadata, kPtdContainer.identifier));
  if (root->version() != 0) {
    return Error{Code::incompatible,
                 "version is " + std::to_string(root->version()) + ", only 0 is known here"};
  }
  Unpacker unpacker(container.metadata);
  BP_ASSIGN_OR_RETURN(const std::vector<Bytes> segments,
                      unpack_segments(root->segments(), container.segments));
  DataFile result;
  for (uint32_t i = 0; root->named_data() != nullptr && i < root->named_data()->size(); ++i) {
    BP_ASSIGN_OR_RETURN(NamedData datum, unpack(*root->named_data()->Get(i), segments, unpacker));
    result.data.push_back(std::move(datum));
  }
  BP_TRY(unpacker.status());
  BP_TRY(check(std::span<const NamedData>(result.data)));
  std::sort(result.data.begin(), result.data.end(),
            [](const NamedData& a, const NamedData& b) { return a.key < b.key; });
  return result;
}

flatbuffers::FlatBufferBuilder pack(const DataFile& file, const std::vector<uint32_t>& places,
                                    const Segments& segments) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::DataSegment>> segment_tables;
  for (const Segments::Segment& segment : segments.list()) {
    segment_tables.push_back(fb::CreateDataSegment(builder, segment.offset, segment.size));
  }
  std::vector<flatbuffers::Offset<fb::NamedData>> data;
  for (size_t i = 0; i < file.data.size(); ++i) {
    flatbuffers::Offset<fb::TensorLayout> layout;
    if (const auto& from = file.data[i].layout) {
      const auto sizes = builder.CreateVector(from->sizes);
      const auto dim_order = builder.CreateVector(from->dim_order);
      layout = fb::CreateTensorLayout(
          builder, static_cast<executorch_flatbuffer::ScalarType>(from->dtype), sizes, dim_order);
    }
    const auto key = builder.CreateString(file.data[i].key);
    data.push_back(fb::CreateNamedData(builder, key, places[i], layout));
  }
  const auto segment_list = builder.CreateVector(segment_tables);
  const auto data_list = builder.CreateVector(data);
  builder.Finish(fb::CreateFlatTensor(builder, 0, segment_list, data_list),
                 fb::FlatTensorIdentifier());
  return builder;
}

}  // namespace

Result<DataFile> read(Bytes file, std::string_view file_name) {
  Result<DataFile> result = read(file);
  if (result.ok()) return result;
  return std::move(result).error().in(file_name);
}

Status write(const DataFile& file, const WriteOptions& options, ByteSink& sink) {
  BP_TRY(check(std::span<const NamedData>(file.data)));
  BP_TRY(check_alignment(options.segment_alignment, 16, "segments"));
  Segments segments;
  std::vector<uint32_t> places;
  places.reserve(file.data.size());
  for (const NamedData& datum : file.data)
    places.push_back(segments.add(datum.data, datum.alignment));
  segments.place(options.segment_alignment);
  const flatbuffers::FlatBufferBuilder builder = pack(file, places, segments);
  const auto metadata = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  BP_TRY(append_container(kPtdContainer, metadata, segments.size_bytes(), segments.base_alignment(),
                          sink));
  return segments.append(sink);
}

Status write(const DataFile& file, const WriteOptions& options, const std::string& path) {
  BP_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  BP_TRY(write(file, options, sink));
  return sink.commit();
}

}  // namespace backplane::ptd
