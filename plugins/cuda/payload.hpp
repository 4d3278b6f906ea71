// The payload of the CUDA plugin: one flat container, written when lowering, read in place.
//
//   "BPCUDA\0\1" · size of the whole (u64) · check sum (u64) · number of arrays (u64)
//   for each array of Tables, in their order: offset from the start, bytes (u64 each)
//   the arrays, each aligned to 16 bytes
//
// What its records mean: payload_records.hpp. The last byte of the magic is the format's version:
// a change of any record or array raises it.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "cuda/payload_records.hpp"

namespace backplane::cuda {

template <class T>
using Owned = std::vector<T>;
template <class T>
using Borrowed = std::span<const T>;

// Everything that a payload holds: in vectors while it is made, in spans of its bytes when read.
template <template <class> class List>
struct Tables {
  List<Summary> summary;  // one
  List<char> text;
  List<std::byte> bytes;
  List<Token> tokens;
  List<Size> sizes;
  List<SizeId> size_lists;
  List<Buffer> buffers;
  List<uint32_t> inputs;   // the buffer of each input, in the run's order
  List<uint32_t> outputs;  // the buffer of each output
  List<Part> parts;
  List<Module> modules;
  List<Image> images;
  List<Kernel> kernels;
  List<ParameterKind> parameters;
  List<Step> steps;
  List<Launch> launches;
  List<Argument> arguments;
  List<Gemm> gemms;
  List<Convolution> convolutions;
  List<Copy> copies;
  List<Fill> fills;
};
using Plan = Tables<Owned>;
using PlanView = Tables<Borrowed>;

// Calls f(array) for each array of `tables`, in the file's order.
template <class AnyTables, class F>
void for_each_array(AnyTables& tables, F&& f) {
  auto& t = tables;
  const auto each = [&f](auto&... arrays) { (f(arrays), ...); };
  each(t.summary, t.text, t.bytes, t.tokens, t.sizes, t.size_lists, t.buffers, t.inputs, t.outputs,
       t.parts, t.modules, t.images, t.kernels, t.parameters, t.steps, t.launches, t.arguments,
       t.gemms, t.convolutions, t.copies, t.fills);
}

// The bytes of a payload. The same plan gives the same bytes.
[[nodiscard]] std::vector<std::byte> write_payload(const Plan& plan);

// The plan in `payload`, which is aligned to 16 bytes and outlives the view. What it answers is
// sound: every index, range and expression lies where it should, arguments are as their kernels'
// parameters, and steps use arena buffers only while they live.
// incompatible: of another version of this format. invalid_argument: damaged; says where.
[[nodiscard]] Result<PlanView> read_payload(std::span<const std::byte> payload);
[[nodiscard]] PlanView view_of(const Plan& plan);
// What read_payload checks of the records.
[[nodiscard]] Status check_plan(const PlanView& plan);

[[nodiscard]] inline std::string_view text_of(const PlanView& plan, Text text) {
  return {plan.text.data() + text.first, text.count};
}
[[nodiscard]] inline std::span<const SizeId> sizes_of(const PlanView& plan, SizeList list) {
  return plan.size_lists.subspan(list.first, list.count);
}

}  // namespace backplane::cuda
