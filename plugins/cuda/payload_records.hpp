// The records of a payload: what the compiler tells the run time, field by field.
//
// Plain numbers in little-endian order, laid out as the structs say, in arrays (payload.hpp). One
// record names another by its place in that array; kNone is none.
//
// Sizes. Every number that may depend on a shape is a SizeId: a Size of the table, whose value is
// found once for a signature, in the table's order (sizes.hpp). Sizes known when lowering are there
// too, with one CONSTANT token.
//
// Shapes in elements, offsets in bytes. Strides are in elements of the operand's dtype.
#pragma once

#include <backplane/types.h>

#include <cstdint>

namespace backplane::cuda {

inline constexpr uint32_t kNone = UINT32_MAX;
using SizeId = uint32_t;  // index into `sizes`

// Consecutive elements of the array that the field's comment names.
struct Range {
  uint32_t first, count;
};
using Text = Range;      // bytes of `text`, UTF-8
using SizeList = Range;  // elements of `size_lists`
// Bytes of `bytes`.
struct Blob {
  uint64_t first, size;
};

// Exactly one. What holds for the whole.
struct Summary {
  uint32_t num_setup_steps;  // the first of `steps`: run once, when the program is loaded
  uint32_t reserved;
  Text compiler;  // "nvrtc 13.0": for messages
  Text method;    // "forward": for messages
};

// ---- sizes ----

// A token of an expression in postfix order, over int64. BP_SYM_* but SYMBOL keep their meaning
// (graph.h); `value` counts for CONSTANT alone.
struct Token {
  uint32_t op;     // BP_SYM_* or one of TokenOp
  uint32_t count;  // operands that it takes; INPUT_DIM: the dimension
  int64_t value;   // CONSTANT: the number; SIZE: an earlier Size; INPUT_*: the input
};
enum TokenOp : uint32_t {
  kTokenSize = 100,         // the value of an earlier Size
  kTokenInputDim = 101,     // a dimension of an input tensor, as it comes
  kTokenInputNumber = 102,  // an input that is a 0-d int64 or bool on the host
};
struct Size {
  Range tokens;
  int64_t bound;  // never exceeded; INT64_MAX: not known. The arena is reserved for the bounds
};

// ---- memory ----

enum class BufferKind : uint32_t {
  input = 0,    // as the caller gives it, if its strides are `strides`; else a copy that has them
  output = 1,   // as the caller gives it; shape by resize_output from `dims`
  weight = 2,   // named data, uploaded once for the program; never written
  derived = 3,  // the program's: written by the setup steps alone, then never
  arena = 4,    // the instance's: undefined before `first_step`, free after `last_step`
  number = 5,   // an input or output that is a 0-d tensor on the host: in no step
};
// A piece of device memory. What is allocated is aligned to 256 bytes; inputs and outputs are as
// aligned as their dtype, and whoever needs more says so in `align`.
struct Buffer {
  BufferKind kind;
  bp_dtype_t dtype;
  SizeId bytes;         // all that steps touch of it, from its start; number: its value, if output
  uint32_t align;       // of its address; a power of two
  SizeList dims;        // the tensor in it: inputs, outputs, weights; others may be empty
  SizeList strides;     // as many
  Range parts;          // of `parts`; weight: what it consists of, in order
  uint32_t first_step;  // arena: the steps between which it is used, both included
  uint32_t last_step;
  Text name;  // for messages
};
// A datum in a weight's buffer. Parts don't overlap; bytes between them are undefined.
struct Part {
  Text key;
  uint64_t offset, size;  // in the buffer; the datum has `size` bytes
};

// ---- code ----

// A program for the device: the same kernels for each architecture.
struct Module {
  Range images;  // of `images`, best first for a device: take the first that fits
  Text source;   // the CUDA C++ that it was made of
};
enum class ImageKind : uint32_t {
  cubin = 0,  // for devices of the same major and at least this minor; exact: for that one alone
  ptx = 1,    // for every device of at least that capability: the driver compiles it
};
struct Image {
  ImageKind kind;
  uint32_t capability;  // 10 · major + minor: 80, 90
  uint32_t is_exact;    // 1: uses what one architecture alone has ("sm_90a")
  uint32_t reserved;
  Blob bytes;   // PTX ends with a 0 byte
  Text target;  // "sm_90a", "compute_80"
};
enum class ParameterKind : uint32_t {
  pointer = 0,  // void*: 8 bytes
  i64 = 1,      // long long
  u32 = 2,      // unsigned
  f64 = 3,      // double: the value of an input that is a number
  fault = 4,    // unsigned long long*: two words, zero before a run. The first kernel that meets
                // a bad value sets word 0 from 0 to its `node`, then word 1 to that value
  node = 5,     // unsigned long long: the step's debug id
};
struct Kernel {
  uint32_t module;
  Text name;         // unmangled: extern "C"
  Range parameters;  // of `parameters`, in order
  Text fault;        // what a fault means: "an index is out of range"; empty if it reports none
};

// ---- steps, in order, on one stream ----

enum class StepKind : uint32_t { launch = 0, gemm = 1, convolution = 2, copy = 3, fill = 4 };
struct Step {
  StepKind kind;
  uint32_t index;     // in `launches`, `gemms`, `convolutions`, `copies`, `fills`
  uint64_t debug_id;  // of the node that it is for, or of the first of several
  Text node;          // its name, for messages
};

// What a launch passes for a parameter of the same kind.
struct Argument {
  ParameterKind kind;
  uint32_t buffer;  // pointer: whose address; f64: the input
  SizeId size;      // pointer: offset in bytes, kNone for 0; i64, u32: the value
};
enum LaunchFlag : uint32_t {
  kLaunchProgrammatic = 1,  // may start before the step before it ends: it waits by itself
};
// Not launched where a dimension of the grid is 0.
struct Launch {
  uint32_t kernel;
  uint32_t flags;
  SizeId grid[3];
  SizeId block[3];
  SizeId shared;    // dynamic shared memory in bytes; kNone: none
  Range arguments;  // of `arguments`: as the kernel's parameters
};

// A strided tensor in a buffer. buffer == kNone: absent.
struct Operand {
  uint32_t buffer;
  SizeId offset;  // bytes; kNone for 0
  bp_dtype_t dtype;
  SizeList dims;
  SizeList strides;  // elements; 0 where expanded
};
enum class Compute : uint32_t { f32 = 0, tf32 = 1, f64 = 2, f16 = 3 };
enum class Epilogue : uint32_t { none = 0, relu = 1, gelu_tanh = 2 };
// d[b, m, n] = epilogue(alpha · Σk a[b, m, k] · b[b, k, n] + beta · c[b, m, n] + bias[n])
// In a, b, c, d one of the last two strides is 1 (or its dimension is). Sums in `compute`, rounded
// to d's dtype once. k may be 0; where m, n or b is 0 nothing is done. c may be d. Library:
// cuBLASLt.
struct Gemm {
  Operand a, b, c, d, bias;
  Compute compute;
  double alpha, beta;
  Epilogue epilogue;
  uint32_t reserved;
};
// y = epilogue(convolution(x, w) + bias[channel] + z); z has y's shape. Cross-correlation, zeros
// around. x[n, c, s…], w[out, c / groups, s…], y[n, out, s…], 1 to 3 dimensions s.
// is_transposed: w[c, out / groups, s…], the gradient with respect to a convolution's input; y's
// dims say the output padding. Library: cuDNN.
struct Convolution {
  Operand x, w, y, bias, z;
  uint32_t num_spatial;
  uint32_t groups;
  uint32_t is_transposed;
  Compute compute;
  Epilogue epilogue;
  int64_t stride[3], padding[3], dilation[3];  // the first num_spatial count
};
// Copies `bytes` from one buffer to another; they don't overlap.
struct Copy {
  uint32_t to, from;
  SizeId to_offset, from_offset;  // kNone for 0
  SizeId bytes;
};
// Writes `value`, of `width` bytes (1, 2, 4), until `bytes` are full.
struct Fill {
  uint32_t to;
  SizeId offset;  // kNone for 0
  SizeId bytes;
  uint32_t width;
  uint32_t value;
};

}  // namespace backplane::cuda
