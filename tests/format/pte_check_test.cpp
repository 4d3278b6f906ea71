// The rules between a program's parts: each broken once.
#include <doctest/doctest.h>

#include <limits>

#include "sample.hpp"

using namespace backplane;

namespace {

using Plan = pte::Plan;

struct Case {
  void (*damage)(pte::Program&, Plan& forward);
  const char* message;
};

pte::Tensor& tensor(Plan& plan, size_t value) {
  return std::get<pte::Tensor>(plan.values[value]);
}

template <class Call>
Call& call(Plan& plan, size_t index) {
  return std::get<Call>(plan.chains[0].instructions[index]);
}

constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

const Case kCases[] = {
    {[](pte::Program&, Plan& p) { p.inputs[1] = 19; },
     "method \"forward\": input 1: value 19 does not exist, there are 19"},
    {[](pte::Program&, Plan& p) { p.outputs[0] = -1; }, "output 0: value -1 does not exist"},
    {[](pte::Program&, Plan& p) {
       tensor(p, 0).layout.dim_order = {0, 0};
     },
     "value 0: dim_order has 0 twice"},
    {[](pte::Program&, Plan& p) {
       tensor(p, 0).layout.dim_order = {0, 2};
     },
     "value 0: dim_order has 2, must be a permutation of the 2 dimensions"},
    {[](pte::Program&, Plan& p) { tensor(p, 0).layout.dim_order = {0}; },
     "value 0: dim_order has 1 dimensions, sizes has 2"},
    {[](pte::Program&, Plan& p) {
       tensor(p, 0).layout.sizes = {2, -1};
     },
     "value 0: sizes[1] is -1, must not be negative"},
    {[](pte::Program&, Plan& p) {
       tensor(p, 4).layout = {DType::f64, {kMost, kMost, 8}, {0, 1, 2}};
     },
     "value 4: its sizes multiply to over 2^63 bytes"},
    {[](pte::Program&, Plan& p) { tensor(p, 3).allocation->memory_id = 0; },
     "value 3: memory_id is 0"},
    {[](pte::Program&, Plan& p) { tensor(p, 3).allocation->memory_id = 3; },
     "value 3: planned buffer 3 does not exist, there are 3"},
    {[](pte::Program&, Plan& p) { tensor(p, 3).allocation->offset = 65; },
     "value 3: 3 bytes at 65 of planned buffer 1, which has 67"},
    {[](pte::Program&, Plan& p) { tensor(p, 3).allocation->offset = ~uint64_t{0}; },
     "value 3: 3 bytes at 18446744073709551615"},
    {[](pte::Program&, Plan& p) { tensor(p, 3).data_index = 2; },
     "value 3: initial state 2 does not exist, there are 2"},
    {[](pte::Program&, Plan& p) { tensor(p, 1).data_index = 2; },
     "value 1: constant 2 has 4 bytes, the tensor 5"},
    {[](pte::Program&, Plan& p) { tensor(p, 5).fqn.clear(); },
     "value 5: is external and has no name"},
    {[](pte::Program&, Plan& p) {
       p.values[14] = pte::IntList{{8, 7}};
     },
     "value 14: item 1 is value 7, which is not an integer"},
    {[](pte::Program&, Plan& p) { p.values[17] = pte::TensorList{{8}}; },
     "value 17: item 0 is value 8, which is not a tensor"},
    {[](pte::Program&, Plan& p) { p.values[17] = pte::TensorList{{-1}}; },
     "value 17: item 0: value -1 does not exist"},
    {[](pte::Program&, Plan& p) {
       p.values[18] = pte::OptionalTensorList{{-1, 8}};
     },
     "value 18: item 1 is value 8, which is neither a tensor nor none"},
    {[](pte::Program&, Plan& p) { p.values[18] = pte::OptionalTensorList{{-2}}; },
     "value 18: item 0: value -2 does not exist"},
    {[](pte::Program&, Plan& p) { call<pte::KernelCall>(p, 0).op = 2; },
     "chain 0: instruction 0: operator 2 does not exist, there are 2"},
    {[](pte::Program&, Plan& p) { call<pte::KernelCall>(p, 0).args[1] = -1; },
     "instruction 0: argument 1: value -1 does not exist"},
    {[](pte::Program&, Plan& p) { call<pte::JumpFalseCall>(p, 1).destination = 7; },
     "instruction 1: destination 7 does not exist, there are 7"},
    {[](pte::Program&, Plan& p) { call<pte::JumpFalseCall>(p, 1).condition = 99; },
     "instruction 1: value 99 does not exist"},
    {[](pte::Program&, Plan& p) { call<pte::DelegateCall>(p, 2).delegate = 2; },
     "instruction 2: delegate 2 does not exist"},
    {[](pte::Program&, Plan& p) { call<pte::MoveCall>(p, 3).to = 19; },
     "instruction 3: value 19 does not exist"},
    {[](pte::Program&, Plan& p) { call<pte::FreeCall>(p, 4).value = 19; },
     "instruction 4: value 19 does not exist"},
    {[](pte::Program&, Plan& p) { p.chains[0].stack_traces.pop_back(); },
     "chain 0: 5 stack traces for 6 instructions"},
    {[](pte::Program&, Plan& p) { p.operators[1].name.clear(); }, "operator 1 has no name"},
    {[](pte::Program&, Plan& p) { p.delegates[1].id.clear(); }, "delegate 1 has no id"},
    {[](pte::Program&, Plan& p) { p.non_const_buffer_device[0].buffer = 0; },
     "planned buffer 0 is reserved"},
    {[](pte::Program&, Plan& p) { p.non_const_buffer_device[0].buffer = 3; },
     "planned buffer 3 does not exist"},
    {[](pte::Program&, Plan& p) {
       p.non_const_buffer_device.push_back(p.non_const_buffer_device[0]);
     },
     "planned buffer 2 has two devices"},
    {[](pte::Program& p, Plan&) { p.plans[1].name = "forward"; },
     "method \"forward\" is there twice"},
    {[](pte::Program& p, Plan&) { p.plans[1].name.clear(); }, "a method has no name"},
    {[](pte::Program& p, Plan&) { p.constants[0] = bytes_of("x"); }, "constant 0 is a placeholder"},
    {[](pte::Program& p, Plan&) { p.named_data[1].key = "a/1"; },
     "named datum \"a/1\" is there twice"},
    {[](pte::Program& p, Plan&) { p.named_data[1].key.clear(); }, "a named datum has no key"},
    {[](pte::Program& p, Plan&) { p.named_data[0].alignment = 48; },
     "named datum \"a/1\": alignment 48, must be a power of two from 1 to 1048576"},
};

}  // namespace

TEST_SUITE("core/format") {
  TEST_CASE("the sample is sound") {
    CHECK(pte::check(sample_program()).ok());
  }

  TEST_CASE("a program with one thing wrong is refused, and the thing named") {
    for (const Case& c : kCases) {
      CAPTURE(c.message);
      pte::Program program = sample_program();
      c.damage(program, program.plans[0]);
      const Status status = pte::check(program);
      REQUIRE_FALSE(status.ok());
      CAPTURE(status.error().message);
      CHECK(status.error().code == Code::invalid_argument);
      CHECK(status.error().message.find(c.message) != std::string::npos);
      MemorySink sink;
      CHECK_FALSE(pte::write(program, {}, sink).ok());
      CHECK(sink.bytes().empty());
    }
  }

  TEST_CASE("another version and a rank over 16 are told apart from damage") {
    pte::Program program = sample_program();
    program.version = 1;
    CHECK(pte::check(program).error().code == Code::incompatible);
    program = sample_program();
    TensorLayout& layout = tensor(program.plans[0], 0).layout;
    layout.sizes.assign(17, 1);
    layout.dim_order.assign(17, 0);
    CHECK(pte::check(program).error().code == Code::unsupported);
  }

  TEST_CASE("bounds of dynamic inputs may be any number, those of other tensors may not") {
    pte::Program program = sample_program();
    Plan& plan = program.plans[0];
    tensor(plan, 0).layout.sizes = {kMost, kMost};
    CHECK(pte::check(program).ok());
    tensor(plan, 0).layout = {DType::f64, {kMost, kMost, kMost}, {0, 1, 2}};
    CHECK(pte::check(program).ok());
    plan.inputs = {8};
    CHECK_FALSE(pte::check(program).ok());
  }
}
