// Taking values out of a FlatBuffer that may be damaged: verification, and copies that together
// can't be much more than the FlatBuffer itself, although its offsets may point to one list many
// times.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <backplane/result.hpp>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "format/named_data.hpp"

namespace backplane {

inline Error damaged(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

// The root table, all that it reaches verified to lie inside `metadata`. `Root` is the generated
// type.
template <class Root>
Result<const Root*> verified_root(Bytes metadata, const char* identifier) {
  // A table takes 4 bytes and the offset to it 4; twice as many as there can be is generous.
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<uint32_t>(metadata.size() / 4);
  const auto* start = reinterpret_cast<const uint8_t*>(metadata.data());
  flatbuffers::Verifier verifier(start, metadata.size(), options);
  if (!verifier.VerifyBuffer<Root>(identifier)) {
    return damaged("the metadata is damaged: FlatBuffers' verification fails");
  }
  return flatbuffers::GetRoot<Root>(start);
}

class Unpacker {
 public:
  explicit Unpacker(Bytes metadata) : budget_(16 * uint64_t{metadata.size()}) {}

  // Empty where nothing is there.
  std::string text(const flatbuffers::String* from) {
    return from != nullptr && charge(from->size()) ? from->str() : std::string();
  }

  // Elements are copied bytewise, since those of damaged files may not be aligned.
  template <class T>
  std::vector<T> list(const flatbuffers::Vector<T>* from) {
    if (from == nullptr || from->size() == 0 || !charge(uint64_t{from->size()} * sizeof(T)))
      return {};
    std::vector<T> to(from->size());
    std::memcpy(to.data(), from->Data(), to.size() * sizeof(T));
    return to;
  }

  // After everything: whether all was copied.
  [[nodiscard]] Status status() const {
    if (!exhausted_) return Ok{};
    return damaged("the metadata is damaged: lists and strings overlap");
  }

 private:
  bool charge(uint64_t bytes) {
    exhausted_ = exhausted_ || bytes > budget_;
    if (!exhausted_) budget_ -= bytes;
    return !exhausted_;
  }

  uint64_t budget_;
  bool exhausted_ = false;
};

// What both formats' tables of tensors have. `Table` is the generated type.
template <class Table>
Result<TensorLayout> unpack_layout(const Table& from, Unpacker& unpacker) {
  if (from.sizes() == nullptr || from.dim_order() == nullptr) {
    return damaged("a tensor without sizes or dim_order");
  }
  const auto number = static_cast<int64_t>(from.scalar_type());
  const std::optional<DType> dtype = dtype_from_number(number);
  if (!dtype) {
    return Error{Code::unsupported, "element type " + std::to_string(number) + " is not supported"};
  }
  return TensorLayout{*dtype, unpacker.list(from.sizes()), unpacker.list(from.dim_order())};
}

// The bytes of each segment; `area` begins at the segment base. `Table` is the generated type.
template <class Table>
Result<std::vector<Bytes>> unpack_segments(
    const flatbuffers::Vector<flatbuffers::Offset<Table>>* from, Bytes area) {
  std::vector<Bytes> segments;
  for (uint32_t i = 0; from != nullptr && i < from->size(); ++i) {
    const uint64_t offset = from->Get(i)->offset();
    const uint64_t size = from->Get(i)->size();
    if (size > 0 && (offset > area.size() || size > area.size() - offset)) {
      return damaged("segment " + std::to_string(i) + ": " + std::to_string(size) + " bytes at " +
                     std::to_string(offset) + ", the segments have " + std::to_string(area.size()) +
                     " in all");
    }
    segments.push_back(size > 0 ? area.subspan(offset, size) : Bytes{});
  }
  return segments;
}

}  // namespace backplane
