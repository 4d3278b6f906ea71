// What a kernel does with calls that are wrong in themselves: it refuses each with a reason.
#include <doctest/doctest.h>

#include <limits>

#include "call.hpp"
#include "portable/library.hpp"

namespace {

using namespace backplane;
using namespace backplane::testing;

Call call(const char* name) {
  return {*portable::library(), name};
}

TEST_SUITE("plugins/portable") {
  TEST_CASE("an argument of another kind than the signature's is refused and named") {
    HostTensor x = HostTensor::of({2}, {1, 2}), out;
    Call wrong = call("aten::add.out");
    wrong.tensor(x).text("two").number(int64_t{1}).out(out);
    CHECK(wrong.run() == BP_INVALID_ARGUMENT);
    CHECK(wrong.error() == "aten::add.out: argument 1: kind 9 is not allowed here");
  }

  TEST_CASE("a missing argument is refused") {
    HostTensor x = HostTensor::of({2}, {1, 2}), out;
    Call wrong = call("aten::add.out");
    wrong.tensor(x).tensor(x).out(out);
    CHECK(wrong.run() == BP_INVALID_ARGUMENT);
    CHECK(wrong.error() == "aten::add.out: 3 values given, 4 expected");
  }

  TEST_CASE("tensors that are damaged are refused") {
    struct Damage {
      const char* what;
      void (*make)(bp_tensor_t&);
      int32_t code;
    };
    const Damage damages[] = {
        {"a negative size", [](bp_tensor_t& t) { t.shape[0] = -1; }, BP_INVALID_ARGUMENT},
        {"sizes whose product overflows",
         [](bp_tensor_t& t) { t.shape[0] = t.shape[1] = int64_t{1} << 40; }, BP_INVALID_ARGUMENT},
        {"a size of zero beside ones that overflow",
         [](bp_tensor_t& t) {
           t.shape[0] = 0;
           t.shape[1] = std::numeric_limits<int64_t>::max();
         },
         BP_INVALID_ARGUMENT},
        {"no strides", [](bp_tensor_t& t) { t.strides = nullptr; }, BP_INVALID_ARGUMENT},
        {"no data", [](bp_tensor_t& t) { t.data = nullptr; }, BP_INVALID_ARGUMENT},
        {"a negative rank", [](bp_tensor_t& t) { t.ndim = -1; }, BP_UNSUPPORTED},
        {"a rank above 16", [](bp_tensor_t& t) { t.ndim = 17; }, BP_UNSUPPORTED},
        {"a dtype of four bits",
         [](bp_tensor_t& t) {
           t.dtype = {0, 4, 1};
         },
         BP_UNSUPPORTED},
        {"a vector dtype", [](bp_tensor_t& t) { t.dtype.lanes = 4; }, BP_UNSUPPORTED},
    };
    for (const Damage& damage : damages) {
      HostTensor x = HostTensor::of({1, 2}, {1, 2}), out;
      Call wrong = call("aten::neg.out");
      wrong.tensor(x).out(out);
      damage.make(x.view);
      INFO(std::string(damage.what));
      CHECK(wrong.run() == damage.code);
      CHECK(wrong.error().starts_with("aten::neg.out: argument 0: "));
    }
  }

  TEST_CASE("shapes that do not broadcast are refused in PyTorch's words") {
    HostTensor x = HostTensor::of({2, 3}, {1, 2, 3, 4, 5, 6}),
               y = HostTensor::of({4}, {1, 2, 3, 4});
    HostTensor out;
    Call wrong = call("aten::mul.out");
    wrong.tensor(x).tensor(y).out(out);
    CHECK(wrong.run() == BP_INVALID_ARGUMENT);
    CHECK(wrong.error() ==
          "aten::mul.out: the size of tensor a (3) must match the size of tensor b (4) at "
          "non-singleton dimension 1");
  }

  TEST_CASE("a dtype that the operator does not take is refused before anything runs") {
    HostTensor x = HostTensor::of<uint8_t>({6, 8, 1}, {2}, {0, 1}), out;
    Call wrong = call("aten::neg.out");
    wrong.tensor(x).out(out);
    CHECK(wrong.run() == BP_UNSUPPORTED);
    CHECK(wrong.error() == "aten::neg.out: not implemented for 'Bool'");
    CHECK(!out.resized);
  }

  TEST_CASE("a result goes into an output of another dtype if the dtype can hold its kind") {
    HostTensor x = HostTensor::of({2}, {1.5, 300.25}), wide, narrow;
    wide.dtype = {2, 64, 1};
    narrow.dtype = {0, 32, 1};
    Call good = call("aten::neg.out");
    good.tensor(x).out(wide);
    CHECK(good.run() == BP_OK);
    CHECK(wide.values<double>() == std::vector<double>{-1.5, -300.25});
    Call wrong = call("aten::neg.out");
    wrong.tensor(x).out(narrow);
    CHECK(wrong.run() == BP_INVALID_ARGUMENT);
    CHECK(wrong.error() ==
          "aten::neg.out: result type Float can't be cast to the desired output type Int");
  }

  TEST_CASE("sizes that no memory holds are refused, not allocated") {
    HostTensor out;
    Call huge = call("aten::full.out");
    huge.ints({int64_t{1} << 40, int64_t{1} << 40}).number(1.0).out(out);
    CHECK(huge.run() == BP_INVALID_ARGUMENT);
    Call negative = call("aten::zeros.out");
    negative.ints({2, -3}).out(out);
    CHECK(negative.run() == BP_INVALID_ARGUMENT);
    CHECK(negative.error() == "aten::zeros.out: negative dimension -3 in shape [2, -3]");
  }

  TEST_CASE("an output may be the input itself") {
    HostTensor x = HostTensor::of({3}, {1, -2, 3});
    bp_boxed_t values[] = {{BP_BOX_TENSOR, 0, {.tensor = x.prepare()}},
                           {BP_BOX_TENSOR, 0, {.tensor = &x.view}}};
    Host host;
    host.ctx()->resize = [](bp_kernel_ctx_t*, bp_tensor_t*, uint32_t, const int64_t*) -> int32_t {
      return BP_OK;
    };
    const bp_kernel_t* const kernel = find_kernel(*portable::library(), "aten::relu.out");
    REQUIRE((kernel->flags & BP_KERNEL_MAY_ALIAS) != 0);
    CHECK(kernel->run(kernel, host.ctx(), values, 2) == BP_OK);
    CHECK(x.values<float>() == std::vector<float>{1, 0, 3});
  }
}

}  // namespace
