// `.pte` files: a program as plain values, its reader and its writer.
//
// The types below say everything that the file says, with the file's own conventions (1-based
// memory ids, list items that are indices of values, placeholders at index 0), since the runtime of
// ExecuTorch reads what is written here. Small things are owned; payloads and constants are views.
#pragma once

#include <backplane/result.hpp>

#include "format/byte_sink.hpp"
#include "format/named_data.hpp"
#include "format/pte_instructions.hpp"

namespace backplane::pte {

enum class ShapeDynamism : uint8_t {
  fixed = 0,      // sizes never change
  bounded = 1,    // sizes are upper bounds, and what the tensor has at first
  unbounded = 2,  // sizes are what the tensor has at first
};

enum class DeviceType : uint8_t { cpu = 0, cuda = 1 };

struct Device {
  DeviceType type = DeviceType::cpu;
  int8_t index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

// Planned memory. `memory_id` counts from 1: an index into Plan::non_const_buffer_sizes.
struct Allocation {
  uint32_t memory_id = 1;
  uint64_t offset = 0;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

// Where a tensor's bytes are at first:
//   external  allocation  data_index   meaning
//   no        none        > 0          constant Program::constants[data_index]
//   no        set         0            planned, no initial value
//   no        set         > 0          planned, starts as Program::mutable_data[data_index]
//   no        none        0            the caller gives memory (inputs, outputs), or no elements
//   yes       none        ignored      constant: the named datum `fqn`
//   yes       set         ignored      planned, starts as the named datum `fqn`
struct Tensor {
  TensorLayout layout;
  ShapeDynamism dynamism = ShapeDynamism::fixed;
  bool requires_grad = false;
  bool external = false;  // needs `fqn`
  Device device;
  uint32_t data_index = 0;
  std::optional<Allocation> allocation;
  std::string fqn;  // may be empty
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

struct None {
  friend bool operator==(const None&, const None&) = default;
};

// Lists whose items are values hold their indices.
struct IntList {
  std::vector<ValueIndex> items;  // each an int64_t value
  friend bool operator==(const IntList&, const IntList&) = default;
};
struct DoubleList {
  std::vector<double> items;
  friend bool operator==(const DoubleList&, const DoubleList&) = default;
};
struct BoolList {
  std::vector<bool> items;
  friend bool operator==(const BoolList&, const BoolList&) = default;
};
struct TensorList {
  std::vector<ValueIndex> items;  // each a Tensor
  friend bool operator==(const TensorList&, const TensorList&) = default;
};
struct OptionalTensorList {
  std::vector<ValueIndex> items;  // each a Tensor or None, or -1 for none
  friend bool operator==(const OptionalTensorList&, const OptionalTensorList&) = default;
};

using Value = std::variant<None, int64_t, bool, double, Tensor, std::string, IntList, DoubleList,
                           BoolList, TensorList, OptionalTensorList>;

// A planned buffer that is not on the CPU.
struct BufferDevice {
  int32_t buffer = 1;  // index into Plan::non_const_buffer_sizes
  Device device;
  friend bool operator==(const BufferDevice&, const BufferDevice&) = default;
};

// One method.
struct Plan {
  std::string name;
  std::string encoded_inputs;  // pytree specs, JSON; may be empty
  std::string encoded_outputs;
  std::vector<Value> values;
  std::vector<ValueIndex> inputs;
  std::vector<ValueIndex> outputs;
  std::vector<Chain> chains;
  std::vector<Operator> operators;
  std::vector<Delegate> delegates;
  std::vector<uint64_t> non_const_buffer_sizes = {0};  // bytes; [0] is reserved and 0
  std::vector<BufferDevice> non_const_buffer_device;   // sparse
};

struct Program {
  uint32_t version = 0;  // no other is known
  std::vector<Plan> plans;
  // [0] is a placeholder without bytes; an empty list is taken as that. Read: as many bytes as the
  // largest tensor that uses the entry needs, since the file does not store sizes.
  std::vector<Bytes> constants;
  std::vector<Bytes> mutable_data;    // initial state, the same rules
  std::vector<NamedData> named_data;  // read: in ascending order of keys, as find() wants it
};

// The plan of that name, or null.
[[nodiscard]] const Plan* find_plan(const Program& program, std::string_view name);

// Reads a whole file, every offset and index of it checked: whatever the bytes, a Program that
// comes back satisfies check(). `file` must be aligned to 16 and outlive the Program. Files without
// an extended header, with longer ones and with inline constants and payloads are read too.
// `file_name` leads the messages. [any thread]
// invalid_argument: damaged or not a `.pte`. incompatible: a later or older version of the format.
// unsupported: well formed, but an element type, rank, strides or offset that is not handled here.
[[nodiscard]] Result<Program> read(Bytes file, std::string_view file_name);

// The rules that hold between the parts of a program: each index in range, list items of the right
// kind, allocations inside their buffers, constants as large as their tensors. Bytes of tensors are
// countable (checked_nbytes), except of unbounded tensors and of dynamic inputs.
[[nodiscard]] Status check(const Program& program);

struct WriteOptions {
  uint32_t segment_alignment = 128;  // powers of two; at least 16
  uint32_t constant_alignment = 16;  // of each constant
};

// Writes the file, streaming; equal payloads and equal named data are stored once. Absolute file
// offsets are multiples of every alignment asked for. Nothing of `program` is copied but metadata.
// invalid_argument: check() fails, or the metadata is over 1 GiB. Others: the sink's.
[[nodiscard]] Status write(const Program& program, const WriteOptions& options, ByteSink& sink);

// The same into the file `path`, which is replaced only when all has been written and synced.
[[nodiscard]] Status write(const Program& program, const WriteOptions& options,
                           const std::string& path);

}  // namespace backplane::pte
