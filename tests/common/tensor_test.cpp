#include <doctest/doctest.h>

#include <algorithm>
#include <backplane/tensor.hpp>
#include <numeric>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace backplane {
namespace {

using Sizes = std::vector<int64_t>;

TEST_SUITE("core/tensor") {
  TEST_CASE("bytes are counted without overflow") {
    struct Case {
      DType dtype;
      Sizes sizes;
      int64_t bytes;  // -1: refused
    };
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    const Case cases[] = {
        {DType::f32, {}, 4},
        {DType::f32, {2, 3}, 24},
        {DType::c128, {5}, 80},
        {DType::u8, {kMax}, kMax},
        {DType::i16, {kMax}, -1},
        {DType::u8, {int64_t{1} << 32, int64_t{1} << 31}, -1},
        {DType::u8, {int64_t{1} << 32, (int64_t{1} << 31) - 1}, kMax - (int64_t{1} << 32) + 1},
        {DType::f32, {0, 5}, 0},
        {DType::f32, {0, -1}, -1},
        {DType::f32, {-1}, -1},
        {DType::f32, {0, kMax, kMax}, -1},
    };
    for (const Case& c : cases) {
      CAPTURE(format_sizes(c.sizes));
      const auto bytes = checked_nbytes(c.dtype, c.sizes);
      CHECK(bytes.ok() == (c.bytes >= 0));
      if (bytes.ok()) CHECK(*bytes == c.bytes);
    }
  }

  TEST_CASE("contiguous strides skip nothing, and sizes of 0 count as 1") {
    CHECK(contiguous_strides(Sizes{2, 3, 4}) == Sizes{12, 4, 1});
    CHECK(contiguous_strides(Sizes{2, 0, 4}) == Sizes{4, 4, 1});
    CHECK(contiguous_strides(Sizes{}).empty());
  }

  TEST_CASE("a view is contiguous if its elements lie in order, whatever sizes of 1 stride") {
    const auto check = [](Sizes sizes, Sizes strides) {
      return TensorView{.data = nullptr,
                        .dtype = DType::f32,
                        .sizes = std::move(sizes),
                        .strides = std::move(strides)}
          .is_contiguous();
    };
    CHECK(check({2, 3}, {3, 1}));
    CHECK_FALSE(check({2, 3}, {1, 2}));
    CHECK_FALSE(check({2, 3}, {4, 1}));
    CHECK_FALSE(check({2, 3}, {0, 1}));
    CHECK(check({2, 1, 3}, {3, 77, 1}));
    CHECK(check({0, 3}, {5, 7}));
    CHECK(check({}, {}));
  }

  // Each element gets its row-major number.
  Tensor numbered(DType dtype, Sizes sizes) {
    Tensor tensor = *Tensor::zeros(dtype, std::move(sizes));
    for (size_t i = 0; i < tensor.nbytes(); i += size_of(dtype)) {
      tensor.bytes()[i] = static_cast<std::byte>(i / size_of(dtype));
    }
    return tensor;
  }

  TEST_CASE("copies of any width take any strides on either side") {
    for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64, DType::c128}) {
      CAPTURE(name_of(dtype));
      const size_t width = size_of(dtype);
      const Tensor tensor = numbered(dtype, {2, 3, 4});
      TensorView view = tensor.view();
      std::swap(view.sizes[0], view.sizes[2]);
      std::swap(view.strides[0], view.strides[2]);
      const Tensor turned = *Tensor::copy_of(view);
      REQUIRE(turned.sizes() == Sizes{4, 3, 2});
      for (size_t i = 0; i < 4; ++i) {
        for (size_t j = 0; j < 3; ++j) {
          for (size_t k = 0; k < 2; ++k) {
            CHECK(turned.bytes()[((i * 3 + j) * 2 + k) * width] == std::byte(k * 12 + j * 4 + i));
          }
        }
      }
      // And back, with strides on the side that is written.
      Tensor back = *Tensor::zeros(dtype, {2, 3, 4});
      TensorView to = back.view();
      std::swap(to.sizes[0], to.sizes[2]);
      std::swap(to.strides[0], to.strides[2]);
      REQUIRE(copy_elements(turned.view(), to).ok());
      CHECK(std::equal(back.bytes().begin(), back.bytes().end(), tensor.bytes().begin()));
    }
  }

  TEST_CASE("a permuted copy has every element in its place, whichever dimension lies last") {
    const Sizes sizes = {3, 45, 70};  // more than one tile, and tiles that end early
    std::vector<int32_t> values(3 * 45 * 70);
    std::iota(values.begin(), values.end(), 0);
    Sizes order = {0, 1, 2};
    do {
      TensorView from = TensorView::contiguous(values.data(), DType::i32, sizes);
      const Sizes strides = from.strides;
      for (size_t d = 0; d < 3; ++d) {
        from.sizes[d] = sizes[static_cast<size_t>(order[d])];
        from.strides[d] = strides[static_cast<size_t>(order[d])];
      }
      const Tensor copy = *Tensor::copy_of(from);
      const auto* at = copy.data_as<int32_t>();
      int64_t wrong = 0;
      for (int64_t i = 0; i < from.sizes[0]; ++i) {
        for (int64_t j = 0; j < from.sizes[1]; ++j) {
          for (int64_t k = 0; k < from.sizes[2]; ++k, ++at) {
            wrong += *at != i * from.strides[0] + j * from.strides[1] + k * from.strides[2];
          }
        }
      }
      CHECK(wrong == 0);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  TEST_CASE("negative, zero and skipping strides are followed") {
    std::vector<int32_t> values = {0, 1, 2, 3, 4, 5, 6, 7};
    const auto copy = [&](int32_t* data, Sizes sizes, Sizes strides) {
      const Tensor tensor = *Tensor::copy_of({.data = data,
                                              .dtype = DType::i32,
                                              .sizes = std::move(sizes),
                                              .strides = std::move(strides)});
      return std::vector<int32_t>(tensor.data_as<int32_t>(),
                                  tensor.data_as<int32_t>() + tensor.numel());
    };
    CHECK(copy(&values[7], {4}, {-2}) == std::vector<int32_t>{7, 5, 3, 1});
    CHECK(copy(&values[3], {2, 2}, {0, 1}) == std::vector<int32_t>{3, 4, 3, 4});
    CHECK(copy(&values[0], {2, 2}, {4, 3}) == std::vector<int32_t>{0, 3, 4, 7});
    CHECK(copy(&values[5], {1, 1}, {100, 100}) == std::vector<int32_t>{5});
    CHECK(copy(nullptr, {0, 2}, {1, 1}).empty());
  }

  TEST_CASE("a copy between unlike tensors or from a device is refused") {
    float data[6] = {};
    const TensorView a = TensorView::contiguous(data, DType::f32, {2, 3});
    const TensorView b = TensorView::contiguous(data, DType::f32, {3, 2});
    const TensorView c = TensorView::contiguous(data, DType::i32, {2, 3});
    TensorView gpu = a;
    gpu.device = {DeviceKind::cuda, 0};
    CHECK(copy_elements(a, b).error().message ==
          "cannot copy float32[2, 3] to float32[3, 2]: they must be alike");
    CHECK_FALSE(copy_elements(a, c).ok());
    CHECK_FALSE(Tensor::copy_of(gpu).ok());
    gpu.device = {DeviceKind::cuda_host, 0};
    CHECK(Tensor::copy_of(gpu).ok());
  }

  TEST_CASE("memory is aligned to 64 bytes, keeps its place when moved, and may be empty") {
    for (const int64_t n : {0, 1, 63, 64, 65, 1000}) {
      Tensor tensor = *Tensor::uninitialized(DType::u8, {n});
      std::byte* address = tensor.bytes().data();
      CHECK(reinterpret_cast<uintptr_t>(address) % 64 == 0);
      const Tensor moved = std::move(tensor);
      CHECK(moved.bytes().data() == address);
      CHECK(moved.bytes().size() == static_cast<size_t>(n));
    }
    CHECK(Tensor().numel() == 0);
    CHECK(Tensor().bytes().empty());
    CHECK(Tensor::zeros(DType::u8, {int64_t{1} << 60}).error().code == Code::out_of_memory);
  }
}

}  // namespace
}  // namespace backplane
