// Programs that no compiler would write: instructions with random arguments, of any kind and size.
// They may be refused or fail; they may not crash, hang or touch what is not theirs (sanitizers
// see).
#include <algorithm>
#include <random>

#include "loaded.hpp"

using namespace backplane;
using namespace backplane::test;

namespace {

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  std::vector<int32_t> sizes() {
    std::vector<int32_t> result(below(4));
    for (int32_t& size : result) size = static_cast<int32_t>(below(5));
    return result;
  }

  ShapeDynamism dynamism() { return static_cast<ShapeDynamism>(below(3)); }

  ValueIndex value(MethodBuilder& b, ProgramFile& file) {
    const std::vector<int32_t> shape = sizes();
    switch (below(12)) {
      case 0:
        return b.value(pte::None{});
      case 1:
        return b.value(static_cast<int64_t>(below(7)) - 2);
      case 2:
        return b.value(below(2) == 0);
      case 3:
        return b.value(below(100) / 10.0);
      case 4:
        return b.value(std::string("text"));
      case 5:
        return b.constant({2, 3}, file.constant({1, 2, 3, 4, 5, 6}));
      case 6:
        return b.state(shape, "state" + std::to_string(shape.size()) + std::to_string(below(3)));
      case 7:
        return b.loose(shape, dynamism());
      case 8:
        return b.planned(shape, ShapeDynamism::bounded);
      case 9:
        return b.planned(shape, dynamism(), below(2) == 0 ? DType::boolean : DType::i64);
      default:
        return b.planned(shape, dynamism());
    }
  }

  void lists(MethodBuilder& b, uint32_t count) {
    pte::IntList ints;
    pte::TensorList tensors;
    for (uint32_t v = 0; v < count; ++v) {
      const pte::Value& value = b.plan().values[v];
      if (std::holds_alternative<int64_t>(value)) ints.items.push_back(static_cast<ValueIndex>(v));
      if (std::holds_alternative<pte::Tensor>(value))
        tensors.items.push_back(static_cast<ValueIndex>(v));
    }
    b.value(ints);
    b.value(tensors);
  }

  void step(MethodBuilder& b, uint32_t count) {
    constexpr const char* kOps[] = {"aten::add.out",
                                    "aten::mul.Scalar_out",
                                    "aten::copy_",
                                    "aten::clone.out",
                                    "test::head.out",
                                    "test::scratch.out",
                                    "test::wide.out",
                                    "aten::sym_size.int",
                                    "aten::sym_numel",
                                    "aten::_local_scalar_dense",
                                    "aten::sym_constrain_range",
                                    "aten::_assert_tensor_metadata",
                                    "executorch_prim::et_view.default",
                                    "executorch_prim::et_copy_index.tensor",
                                    "executorch_prim::add.Scalar",
                                    "executorch_prim::floordiv.Scalar",
                                    "executorch_prim::lt.Scalar",
                                    "dim_order_ops::_clone_dim_order.out",
                                    "dim_order_ops::_empty_dim_order.out"};
    const auto any = [&] { return static_cast<ValueIndex>(below(count)); };
    std::vector<ValueIndex> args(1 + below(5));
    for (ValueIndex& v : args) v = any();
    if (below(3) > 0) args.push_back(args.back());
    switch (below(8)) {
      case 0:
        b.move(any(), any());
        break;
      case 1:
        b.jump_if_false(any(), static_cast<int32_t>(below(12)));
        break;
      case 2:
        b.delegate(delegate_of("backplane.stub", {1, static_cast<uint32_t>(args.size()) - 1, {}}),
                   args);
        break;
      default:
        b.call(kOps[below(std::size(kOps))], args);
    }
  }

 private:
  std::mt19937 random_;
};

// Writes all that it is given, in sizes of its own.
int32_t scribble(Stub& stub, const bp_run_t& run) {
  for (uint32_t i = 0; i < run.num_outputs; ++i) {
    const auto ndim = static_cast<uint32_t>(run.outputs[i].ndim);
    const int64_t shape[16] = {2, 1, 3, 2};
    const int32_t code = stub.host->resize_output(run.ctx, i, ndim, shape);
    if (code != BP_OK) return code;
    const int64_t bytes = numel({run.outputs[i].shape, ndim}) * run.outputs[i].dtype.bits / 8;
    std::fill_n(static_cast<char*>(run.outputs[i].data), bytes, char{1});
  }
  return BP_OK;
}

Status execute_once(Method& method) {
  std::vector<float> data(4096, 1);
  for (size_t i = 0; i < method.info().inputs.size(); ++i) {
    const SlotInfo& slot = method.info().inputs[i];
    if (slot.kind != SlotKind::tensor) continue;
    std::vector<int64_t> sizes;
    for (const DimBounds& dim : slot.dims) sizes.push_back(std::min<int64_t>(dim.max, 4));
    BP_TRY(method.set_input(i, TensorView::contiguous(data.data(), slot.dtype, sizes)));
  }
  return method.execute();
}

}  // namespace

TEST_SUITE("core/runtime/random") {
  TEST_CASE("no program does harm, however senseless") {
    TemporaryFolder folder;
    TestPlugins plugins;
    plugins.stub.execute = [&](const bp_run_t& run) { return scribble(plugins.stub, run); };
    int loaded = 0;
    int succeeded = 0;
    for (uint32_t seed = 0; seed < 600; ++seed) {
      CAPTURE(seed);
      Generator generator(seed);
      ProgramFile file;
      MethodBuilder b("forward");
      uint32_t count = 3 + generator.below(12);
      for (uint32_t v = 0; v < count; ++v) generator.value(b, file);
      generator.lists(b, count);
      count += 2;
      const uint32_t steps = 1 + generator.below(4);
      for (uint32_t s = 0; s < steps; ++s) generator.step(b, count);
      // Forward, so that it ends.
      for (int32_t i = 0; i < b.next(); ++i) {
        auto* jump = std::get_if<pte::JumpFalseCall>(
            &b.plan().chains[0].instructions[static_cast<size_t>(i)]);
        if (jump != nullptr) jump->destination = i + 1 + jump->destination % (b.next() - i);
      }
      std::vector<ValueIndex> slots(2);
      for (ValueIndex& v : slots) v = static_cast<ValueIndex>(generator.below(count));
      b.inputs({slots[0]}).outputs(slots);
      file.add(b);
      auto program = Program::load(file.write(folder), plugins);
      if (!program.ok()) continue;
      ++loaded;
      auto session = program->session();
      auto method = session->method("forward");
      if (!method.ok()) continue;
      for (int round = 0; round < 3; ++round) {
        const Status status = execute_once(*method);
        if (!status.ok()) continue;
        ++succeeded;
        for (size_t o = 0; o < 2; ++o) {
          if (method->info().outputs[o].kind == SlotKind::tensor) CHECK(method->output(o).ok());
        }
      }
    }
    MESSAGE(loaded << " of 600 programs load, " << succeeded << " of their executions succeed");
    CHECK(loaded > 50);
    CHECK(succeeded > 30);
  }
}
