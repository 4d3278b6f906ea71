// Plans between a FlatBuffer and their types: one function each way, used by the reader and writer.
#pragma once

#include "format/pte.hpp"
#include "format/unpack.hpp"
#include "program_generated.h"

namespace backplane::pte {

namespace fb = executorch_flatbuffer;

// What delegates' references point into.
struct Payloads {
  std::vector<Bytes> inlined;
  std::vector<Bytes> segments;
};

// Errors name the method and the value, instruction or delegate.
[[nodiscard]] Result<Plan> unpack_plan(const fb::ExecutionPlan& from, const Payloads& payloads,
                                       Unpacker& unpacker);

// A FlatBuffer under construction that stays under a size that FlatBuffers can hold.
class Packer {
 public:
  // All fail quietly after the first that does not fit; full() tells.
  flatbuffers::Offset<flatbuffers::String> text(std::string_view from);
  template <class T>
  flatbuffers::Offset<flatbuffers::Vector<T>> list(const std::vector<T>& from) {
    return fits(from.size() * sizeof(T)) ? builder_.CreateVector(from.data(), from.size()) : 0;
  }

  [[nodiscard]] bool full() const { return full_; }
  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

 private:
  bool fits(size_t bytes);

  flatbuffers::FlatBufferBuilder builder_;
  bool full_ = false;
};

struct PayloadPlace {
  fb::DataLocation location = fb::DataLocation::INLINE;
  uint32_t index = 0;
};

// `payloads[i]` is where the payload of the plan's delegate i lies.
[[nodiscard]] flatbuffers::Offset<fb::ExecutionPlan> pack_plan(
    const Plan& plan, const std::vector<PayloadPlace>& payloads, Packer& packer);

}  // namespace backplane::pte
