#include "cuda/runtime/launches.hpp"

#include <bit>

#include "cuda/runtime/bound_operand.hpp"

namespace backplane::cuda {

Result<uint32_t> Launches::add(const Step& step, std::span<const int64_t> sizes) {
  const Launch& launch = plan_.launches[step.index];
  BoundLaunch bound;
  bound.kernel = launch.kernel;
  bound.function = modules_.function(launch.kernel);
  for (int d = 0; d < 3; ++d) {
    const int64_t grid = sizes[launch.grid[d]];
    const int64_t block = sizes[launch.block[d]];
    if (grid < 0 || grid > INT32_MAX || block < 1 || block > 1024)
      return Error{Code::unsupported, "a launch of " + std::to_string(grid) + " blocks of " +
                                          std::to_string(block) + " threads"};
    bound.grid[d] = static_cast<unsigned>(grid);
    bound.block[d] = static_cast<unsigned>(block);
    bound.is_nothing = bound.is_nothing || grid == 0;
  }
  bound.dynamic_shared_bytes = static_cast<unsigned>(value_or_0(sizes, launch.shared));
  bound.is_programmatic = (launch.flags & kLaunchProgrammatic) != 0;
  bound.first_cell = static_cast<uint32_t>(cells_.size());
  BP_TRY(modules_.allow_shared(launch.kernel, bound.dynamic_shared_bytes));
  for (const Argument& argument :
       plan_.arguments.subspan(launch.arguments.first, launch.arguments.count))
    add_argument(argument, step.debug_id, sizes);
  launches_.push_back(bound);
  return static_cast<uint32_t>(launches_.size() - 1);
}

void Launches::add_argument(const Argument& argument, uint64_t debug_id,
                            std::span<const int64_t> sizes) {
  const auto cell = static_cast<uint32_t>(cells_.size());
  const auto launch = static_cast<uint32_t>(launches_.size());
  uint64_t value = 0;
  switch (argument.kind) {
    case ParameterKind::pointer:
      if (pointers_.size() <= argument.buffer) pointers_.resize(argument.buffer + 1);
      pointers_[argument.buffer].push_back({cell, launch, value_or_0(sizes, argument.size)});
      break;
    case ParameterKind::i64:
    case ParameterKind::u32:
      value = static_cast<uint64_t>(sizes[argument.size]);
      break;
    case ParameterKind::f64:
      numbers_.push_back({cell, launch, argument.buffer});
      break;
    case ParameterKind::fault:
      value = fault_;
      break;
    case ParameterKind::node:
      value = debug_id;
      break;
  }
  cells_.push_back(value);
}

void Launches::seal() {
  params_.clear();
  for (uint64_t& cell : cells_) params_.push_back(&cell);
  params_.push_back(nullptr);  // so that a launch without parameters has a place, too
}

void Launches::point(uint32_t buffer, CuAddress address) {
  if (buffer >= pointers_.size()) return;
  for (const Pointer& pointer : pointers_[buffer]) cells_[pointer.cell] = address + pointer.offset;
}

void Launches::set_number(uint32_t input, double value) {
  for (const Number& number : numbers_) {
    if (number.input == input) cells_[number.cell] = std::bit_cast<uint64_t>(value);
  }
}

std::vector<uint32_t> Launches::users_of_buffer(uint32_t buffer) const {
  std::vector<uint32_t> users;
  if (buffer >= pointers_.size()) return users;
  for (const Pointer& pointer : pointers_[buffer]) {
    if (users.empty() || users.back() != pointer.launch) users.push_back(pointer.launch);
  }
  return users;
}

std::vector<uint32_t> Launches::users_of_number(uint32_t input) const {
  std::vector<uint32_t> users;
  for (const Number& number : numbers_) {
    if (number.input == input && (users.empty() || users.back() != number.launch))
      users.push_back(number.launch);
  }
  return users;
}

Status Launches::enqueue(const Driver& driver, size_t index, CuStream stream) {
  const BoundLaunch& launch = launches_[index];
  if (launch.is_nothing) return Ok{};
  CuLaunchAttribute programmatic{};
  programmatic.id = kCuLaunchProgrammatic;
  programmatic.value.flag = 1;
  CuLaunchConfig config{};
  for (int d = 0; d < 3; ++d) {
    config.grid[d] = launch.grid[d];
    config.block[d] = launch.block[d];
  }
  config.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  config.stream = stream;
  config.attributes = &programmatic;
  config.num_attributes = launch.is_programmatic ? 1 : 0;
  return driver.check(
      driver.launch_kernel(&config, launch.function, params(launch), nullptr),
      "kernel '" + std::string(text_of(plan_, plan_.kernels[launch.kernel].name)) + "'");
}

}  // namespace backplane::cuda
