// The host's side for tests of the run time: named data, reasons, outputs with room of their own.
#pragma once

#include <backplane/execution.hpp>
#include <backplane/host.hpp>

#include <map>
#include <string>
#include <vector>

namespace backplane::cuda {

class TestHost {
 public:
  TestHost();
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  [[nodiscard]] sdk::Host host() const { return sdk::Host(&table_); }
  // A request that lives as long as this; `payload` must, too.
  [[nodiscard]] sdk::LoadRequest request(std::span<const std::byte> payload);

  std::map<std::string, std::vector<float>> data;
  std::map<std::string, uint64_t> ids;  // content ids; not given: none
  std::string reason;                   // the first that was told, until cleared
  uint64_t node = 0;                    // with its node
  std::vector<std::string> logs;
  int held = 0;  // data that were not released

 private:
  bp_host_t table_{};
  bp_load_t load_{};
};

// One run of a program with tensors of float32.
class TestRun {
 public:
  struct Tensor {
    std::vector<int64_t> shape, strides;
    void* memory = nullptr;
    bp_devref_t device{BP_DEV_CUDA, 0};
    size_t room = SIZE_MAX;  // of an output: bytes at `memory`
    std::vector<int64_t> order =
        {};  // of an output: dimensions from the outermost; empty: as they are
  };
  std::vector<Tensor> inputs, outputs;
  double number = 0;  // the last input
  void* stream = nullptr;
  uint32_t flags = 0;

  // What execute gets. Valid until the next call.
  sdk::Run run(const TestHost& host);
  int32_t resize(uint32_t index, std::span<const int64_t> shape);

 private:
  std::vector<bp_tensor_t> tensors_;
  bp_run_t run_{};
};

}  // namespace backplane::cuda
