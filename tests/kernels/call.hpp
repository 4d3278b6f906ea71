// One call of a kernel: its values, put together one by one in the schema's order.
#pragma once

#include "harness.hpp"

namespace backplane::testing {

class Call {
 public:
  // The kernel must be there: check with find_kernel where that is the question.
  Call(const bp_kernels_t& library, std::string_view name) : kernel_(find_kernel(library, name)) {}

  [[nodiscard]] bool found() const { return kernel_ != nullptr; }
  Host& host() { return host_; }
  [[nodiscard]] const std::string& error() const { return host_.error; }

  // Tensors are borrowed until the call is gone.
  Call& tensor(HostTensor& tensor) {
    tensors_.push_back(&tensor);
    return box({BP_BOX_TENSOR, 0, {.tensor = tensor.prepare()}});
  }
  // Null elements are absent ones.
  Call& tensors(const std::vector<HostTensor*>& list) { return tensor_list(list, false); }
  Call& none() { return box({BP_BOX_NONE, 0, {.i = 0}}); }
  Call& number(int64_t value) { return box({BP_BOX_INT, 0, {.i = value}}); }
  Call& number(double value) { return box({BP_BOX_DOUBLE, 0, {.f = value}}); }
  Call& number(bool value) { return box({BP_BOX_BOOL, 0, {.i = value ? 1 : 0}}); }
  Call& complex(double real, double imag) {
    doubles_.push_back({real, imag});
    return box({BP_BOX_COMPLEX, 2, {.doubles = doubles_.back().data()}});
  }
  Call& ints(std::vector<int64_t> values) {
    ints_.push_back(std::move(values));
    return box({BP_BOX_INTS, size(ints_.back()), {.ints = ints_.back().data()}});
  }
  Call& doubles(std::vector<double> values) {
    doubles_.push_back(std::move(values));
    return box({BP_BOX_DOUBLES, size(doubles_.back()), {.doubles = doubles_.back().data()}});
  }
  Call& bools(std::vector<uint8_t> values) {
    bools_.push_back(std::move(values));
    return box({BP_BOX_BOOLS, size(bools_.back()), {.bools = bools_.back().data()}});
  }
  Call& text(std::string value) {
    texts_.push_back(std::move(value));
    return box({BP_BOX_STRING, size(texts_.back()), {.text = texts_.back().data()}});
  }
  Call& out(HostTensor& tensor) {
    host_.outputs.push_back(&tensor);
    return this->tensor(tensor);
  }
  Call& outs(const std::vector<HostTensor*>& list) { return tensor_list(list, true); }

  // BP_OK, or the kernel's code with its reason in error().
  int32_t run() {
    std::vector<void*> data;
    for (HostTensor* tensor : tensors_) {
      data.push_back(tensor->view.data);
      tensor->view.data = nullptr;
    }
    const auto count = static_cast<uint32_t>(boxed_.size());
    const int32_t code = kernel_->supports(kernel_, host_.ctx(), boxed_.data(), count);
    for (size_t i = 0; i < data.size(); ++i) {
      tensors_[i]->view.data = data[i];
    }
    return code != BP_OK ? code : kernel_->run(kernel_, host_.ctx(), boxed_.data(), count);
  }

 private:
  template <class T>
  static uint32_t size(const T& list) {
    return static_cast<uint32_t>(list.size());
  }
  Call& box(const bp_boxed_t& value) {
    boxed_.push_back(value);
    return *this;
  }
  Call& tensor_list(const std::vector<HostTensor*>& list, bool outputs) {
    std::vector<bp_tensor_t*> raw;
    for (HostTensor* tensor : list) {
      raw.push_back(tensor != nullptr ? tensor->prepare() : nullptr);
      if (tensor != nullptr) {
        tensors_.push_back(tensor);
      }
      if (outputs) {
        host_.outputs.push_back(tensor);
      }
    }
    raw_lists_.push_back(std::move(raw));
    return box({BP_BOX_TENSORS, size(list), {.tensors = raw_lists_.back().data()}});
  }

  const bp_kernel_t* kernel_;
  Host host_;
  std::vector<bp_boxed_t> boxed_;
  std::vector<HostTensor*> tensors_;
  std::deque<std::vector<bp_tensor_t*>> raw_lists_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::vector<uint8_t>> bools_;
  std::deque<std::string> texts_;
};

}  // namespace backplane::testing
