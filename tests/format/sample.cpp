#include "sample.hpp"

#include <algorithm>
#include <limits>

namespace backplane {
namespace {

bool same(const pte::Plan& a, const pte::Plan& b);

bool same(Bytes a, Bytes b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool same(const pte::Delegate& a, const pte::Delegate& b) {
  return a.id == b.id && a.compile_specs == b.compile_specs && same(a.payload, b.payload);
}

bool same(const pte::Chain& a, const pte::Chain& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.instructions == b.instructions &&
         a.stack_traces == b.stack_traces;
}

template <class T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}

bool same(const pte::Plan& a, const pte::Plan& b) {
  return a.name == b.name && a.encoded_inputs == b.encoded_inputs &&
         a.encoded_outputs == b.encoded_outputs && a.values == b.values && a.inputs == b.inputs &&
         a.outputs == b.outputs && all_same(a.chains, b.chains) && a.operators == b.operators &&
         all_same(a.delegates, b.delegates) &&
         a.non_const_buffer_sizes == b.non_const_buffer_sizes &&
         a.non_const_buffer_device == b.non_const_buffer_device;
}

pte::Tensor tensor(std::vector<int32_t> sizes, DType dtype = DType::u8) {
  pte::Tensor made{.layout = {dtype, std::move(sizes), {}}};
  for (size_t i = 0; i < made.layout.sizes.size(); ++i) {
    made.layout.dim_order.push_back(static_cast<uint8_t>(i));
  }
  return made;
}

std::vector<pte::Value> sample_values() {
  pte::Tensor input = tensor({2, 3}, DType::bf16);
  input.layout.dim_order = {1, 0};
  input.dynamism = pte::ShapeDynamism::bounded;
  input.requires_grad = true;
  pte::Tensor first = tensor({5});
  first.data_index = 1;
  pte::Tensor next = tensor({4});
  next.data_index = 2;
  pte::Tensor state = tensor({3});
  state.data_index = 1;
  state.allocation = pte::Allocation{1, 64};
  state.fqn = "net.state";
  pte::Tensor far = tensor({4}, DType::f32);
  far.allocation = pte::Allocation{2, uint64_t{5} << 32};
  far.device = {pte::DeviceType::cuda, 1};
  pte::Tensor outside = tensor({}, DType::f64);
  outside.external = true;
  outside.fqn = "net.scale";
  pte::Tensor grows = tensor({0}, DType::i64);
  grows.dynamism = pte::ShapeDynamism::unbounded;
  return {input,
          first,
          next,
          state,
          far,
          outside,
          grows,
          pte::None{},
          int64_t{-7},
          true,
          false,
          -0.0,
          std::numeric_limits<double>::infinity(),
          std::string("a\0b", 3),
          pte::IntList{{8, 8}},
          pte::DoubleList{{0.5, -1.25}},
          pte::BoolList{{true, false, true}},
          pte::TensorList{{0, 2}},
          pte::OptionalTensorList{{-1, 7, 1}}};
}

}  // namespace

pte::Program sample_program() {
  pte::Chain chain{.inputs = {0}, .outputs = {4}};
  chain.instructions = {pte::KernelCall{0, {0, 1, 8, 4, 4}},
                        pte::JumpFalseCall{9, 4},
                        pte::DelegateCall{1, {0, 4}},
                        pte::MoveCall{4, 3},
                        pte::FreeCall{6},
                        pte::KernelCall{1, {}}};
  chain.stack_traces.resize(chain.instructions.size());
  chain.stack_traces[0] = {{"net.py", 12, "forward", "x + y"}, {"main.py", 3, "", ""}};
  pte::Plan forward{.name = "forward", .encoded_inputs = "[1]", .encoded_outputs = "[2]"};
  forward.values = sample_values();
  forward.inputs = {0, 8};
  forward.outputs = {4, 3};
  forward.chains = {std::move(chain)};
  forward.operators = {{"aten::add", "out"}, {"own::none", ""}};
  forward.delegates = {{"Empty", {}, {}},
                       {"Lib", {{"key", {0, 255}}, {"", {}}}, bytes_of("payload")}};
  forward.non_const_buffer_sizes = {0, 67, (uint64_t{5} << 32) + 16};
  forward.non_const_buffer_device = {{2, {pte::DeviceType::cuda, 1}}};
  pte::Plan other{.name = "other"};
  other.delegates = {{"Lib", {}, bytes_of("payload")}};
  pte::Program program;
  program.plans = {std::move(forward), std::move(other)};
  program.constants = {Bytes{}, bytes_of("first"), bytes_of("next")};
  program.mutable_data = {Bytes{}, bytes_of("old")};
  program.named_data = {{.key = "a/1", .data = bytes_of("0123456789"), .alignment = 512},
                        {.key = "b/1", .data = bytes_of("0123456789")}};
  return program;
}

ptd::DataFile sample_data() {
  return {{{.key = "blob", .data = bytes_of("twelve bytes")},
           {.key = "large", .data = bytes_of("x"), .alignment = 1024},
           {.key = "net.weight",
            .data = bytes_of("twelve bytes"),
            .alignment = 256,
            .layout = TensorLayout{DType::f16, {2, 3}, {0, 1}}}}};
}

bool same(std::span<const NamedData> a, std::span<const NamedData> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NamedData& x, const NamedData& y) {
                      return x.key == y.key && same(x.data, y.data) && x.layout == y.layout;
                    });
}

bool same(const pte::Program& a, const pte::Program& b) {
  return a.version == b.version && all_same(a.plans, b.plans) &&
         std::equal(a.constants.begin(), a.constants.end(), b.constants.begin(), b.constants.end(),
                    [](Bytes x, Bytes y) { return same(x, y); }) &&
         std::equal(a.mutable_data.begin(), a.mutable_data.end(), b.mutable_data.begin(),
                    b.mutable_data.end(), [](Bytes x, Bytes y) { return same(x, y); }) &&
         same(std::span<const NamedData>(a.named_data), std::span<const NamedData>(b.named_data));
}

}  // namespace backplane
