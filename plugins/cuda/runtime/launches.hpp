// The kernel launches of a plan for one signature: sizes are numbers, parameters lie ready.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/payload.hpp"
#include "cuda/runtime/modules.hpp"

namespace backplane::cuda {

struct BoundLaunch {
  uint32_t kernel = 0;
  CuFunction function = nullptr;
  unsigned grid[3] = {}, block[3] = {};
  unsigned dynamic_shared_bytes = 0;
  bool is_programmatic = false;
  bool is_nothing = false;  // a dimension of the grid is 0
  uint32_t first_cell = 0;
};

// Parameters are cells of 8 bytes; the driver gets pointers to them.
class Launches {
 public:
  // `fault`: where kernels report.
  Launches(const PlanView& plan, Modules& modules, CuAddress fault)
      : plan_(plan), modules_(modules), fault_(fault) {}

  // Adds the launch of that step. Gives its index.
  Result<uint32_t> add(const Step& step, std::span<const int64_t> sizes);
  // After the last one.
  void seal();

  [[nodiscard]] const BoundLaunch& operator[](size_t index) const { return launches_[index]; }
  [[nodiscard]] size_t size() const { return launches_.size(); }
  [[nodiscard]] void** params(const BoundLaunch& launch) { return &params_[launch.first_cell]; }

  // Writes the address into all parameters that point into the buffer.
  void point(uint32_t buffer, CuAddress address);
  void set_number(uint32_t input, double value);
  // The launches with a parameter in that buffer, or for that number.
  [[nodiscard]] std::vector<uint32_t> users_of_buffer(uint32_t buffer) const;
  [[nodiscard]] std::vector<uint32_t> users_of_number(uint32_t input) const;

  Status enqueue(const Driver& driver, size_t index, CuStream stream);

 private:
  struct Pointer {
    uint32_t cell, launch;
    uint64_t offset;
  };
  struct Number {
    uint32_t cell, launch, input;
  };
  void add_argument(const Argument& argument, uint64_t debug_id, std::span<const int64_t> sizes);

  const PlanView& plan_;
  Modules& modules_;
  CuAddress fault_;
  std::vector<BoundLaunch> launches_;
  std::vector<uint64_t> cells_;
  std::vector<void*> params_;                   // one a cell
  std::vector<std::vector<Pointer>> pointers_;  // by buffer
  std::vector<Number> numbers_;
};

}  // namespace backplane::cuda
