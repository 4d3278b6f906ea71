#include "sample_plan.hpp"

#include <backplane/graph.h>
#include <backplane/graph.hpp>

#include <string_view>

namespace backplane::cuda {
namespace {

Text add_text(Plan& plan, std::string_view text) {
  const Text added{static_cast<uint32_t>(plan.text.size()), static_cast<uint32_t>(text.size())};
  plan.text.insert(plan.text.end(), text.begin(), text.end());
  return added;
}
SizeId add_size(Plan& plan, std::initializer_list<Token> tokens, int64_t bound) {
  plan.sizes.push_back(
      {{static_cast<uint32_t>(plan.tokens.size()), static_cast<uint32_t>(tokens.size())}, bound});
  plan.tokens.insert(plan.tokens.end(), tokens);
  return static_cast<SizeId>(plan.sizes.size() - 1);
}
SizeList add_list(Plan& plan, std::initializer_list<SizeId> sizes) {
  const SizeList list{static_cast<uint32_t>(plan.size_lists.size()),
                      static_cast<uint32_t>(sizes.size())};
  plan.size_lists.insert(plan.size_lists.end(), sizes);
  return list;
}
uint32_t add_buffer(Plan& plan, BufferKind kind, SizeId bytes, SizeList dims, SizeList strides) {
  plan.buffers.push_back({kind, sdk::kFloat32, bytes, 16, dims, strides, {}, 1, 5, {}});
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

}  // namespace

Plan sample_plan() {
  Plan plan;
  plan.summary.push_back({1, 0, add_text(plan, "nvrtc 13.0"), add_text(plan, "forward")});
  const SizeId one = add_size(plan, {{BP_SYM_CONSTANT, 0, 1}}, 1);
  const SizeId four = add_size(plan, {{BP_SYM_CONSTANT, 0, 4}}, 4);
  const SizeId n = add_size(plan, {{kTokenInputDim, 0, 0}}, 100);
  const SizeId bytes =
      add_size(plan, {{kTokenSize, 0, n}, {BP_SYM_CONSTANT, 0, 16}, {BP_SYM_MUL, 2, 0}}, 1600);
  const SizeId blocks =
      add_size(plan, {{kTokenSize, 0, n}, {BP_SYM_CONSTANT, 0, 128}, {BP_SYM_CEIL_DIV, 2, 0}}, 1);
  const SizeList dims = add_list(plan, {n, four});
  const SizeList strides = add_list(plan, {four, one});
  const uint32_t in = add_buffer(plan, BufferKind::input, bytes, dims, strides);
  const uint32_t out = add_buffer(plan, BufferKind::output, bytes, dims, strides);
  const uint32_t weight = add_buffer(plan, BufferKind::weight, bytes, {}, {});
  const uint32_t derived = add_buffer(plan, BufferKind::derived, bytes, {}, {});
  const uint32_t arena = add_buffer(plan, BufferKind::arena, bytes, {}, {});
  plan.inputs.push_back(in);
  plan.outputs.push_back(out);
  plan.parts.push_back({add_text(plan, "layer.weight"), 0, 64});
  plan.buffers[weight].parts = {0, 1};

  plan.bytes = {std::byte{'p'}, std::byte{0}};
  plan.images.push_back({ImageKind::ptx, 80, 0, 0, {0, 2}, add_text(plan, "compute_80")});
  plan.modules.push_back({{0, 1}, add_text(plan, "source")});
  plan.parameters = {ParameterKind::pointer, ParameterKind::i64, ParameterKind::fault};
  plan.kernels.push_back({0, add_text(plan, "kernel"), {0, 3}, {}});
  plan.arguments = {{ParameterKind::pointer, arena, kNone},
                    {ParameterKind::i64, kNone, n},
                    {ParameterKind::fault, kNone, kNone}};
  plan.launches.push_back({0, 0, {blocks, one, one}, {four, one, one}, kNone, {0, 3}});

  const Operand none{kNone, kNone, sdk::kFloat32, {}, {}};
  const auto operand = [&](uint32_t buffer, std::initializer_list<SizeId> shape) {
    const SizeList list = add_list(plan, shape);
    return Operand{buffer, kNone, sdk::kFloat32, list, list};
  };
  plan.gemms.push_back({operand(in, {one, n, four}), operand(weight, {one, four, four}), none,
                        operand(arena, {one, n, four}), none, Compute::f32, 1, 0, Epilogue::none,
                        0});
  plan.convolutions.push_back({operand(in, {n, one, four}),
                               operand(weight, {four, one, one}),
                               operand(arena, {n, four, four}),
                               none,
                               none,
                               1,
                               1,
                               0,
                               Compute::f32,
                               Epilogue::relu,
                               {1, 1, 1},
                               {0, 0, 0},
                               {1, 1, 1}});
  plan.copies = {{derived, weight, kNone, kNone, bytes}, {out, arena, kNone, kNone, bytes}};
  plan.fills.push_back({arena, kNone, bytes, 4, 0});
  plan.steps = {{StepKind::copy, 0, 0, {}},         {StepKind::fill, 0, 7, add_text(plan, "zeros")},
                {StepKind::launch, 0, 8, {}},       {StepKind::gemm, 0, 9, {}},
                {StepKind::convolution, 0, 10, {}}, {StepKind::copy, 1, 11, {}}};
  return plan;
}

}  // namespace backplane::cuda
