#include "cuda/runtime/arena.hpp"

#include <algorithm>

#include "cuda/runtime/memory.hpp"

namespace backplane::cuda {
namespace {

constexpr int kPinnedKind = 1;
constexpr int kReadAndWrite = 3;
constexpr int kRecommended = 1;

CuPhysicalProperties properties_of(const Device& device) {
  CuPhysicalProperties properties{};
  properties.kind = kPinnedKind;
  properties.location = {kCuLocationDevice, device.facts().handle};
  return properties;
}

size_t round_up(size_t bytes, size_t granule) {
  return (bytes + granule - 1) / granule * granule;
}

}  // namespace

Arena::Arena(const Device& device, size_t bound_bytes, std::string owner)
    : device_(device),
      bound_(std::min(bound_bytes, device.facts().memory_bytes)),
      owner_(std::move(owner)) {}

Arena::~Arena() {
  if (address_ == 0) return;
  const Driver& driver = device_.driver();
  const Current current(device_);
  size_t at = 0;
  for (const size_t piece : pieces_) {
    driver.mem_unmap(address_ + at, piece);
    at += piece;
  }
  driver.mem_address_free(address_, reserved_);
}

Status Arena::reserve() {
  const Driver& driver = device_.driver();
  const CuPhysicalProperties properties = properties_of(device_);
  BP_TRY(driver.check(driver.mem_get_allocation_granularity(&granule_, &properties, kRecommended),
                      "the size of a page"));
  const size_t wanted = round_up(std::max<size_t>(bound_, 1), granule_);
  const CuResult result = driver.mem_address_reserve(&address_, wanted, 0, 0, 0);
  if (result != kCuSuccess) return refused(device_, result, wanted, "addresses of " + owner_);
  reserved_ = wanted;
  return Ok{};
}

Status Arena::grow(size_t bytes) {
  if (bytes <= mapped_) return Ok{};
  const Driver& driver = device_.driver();
  const Current current(device_);
  if (address_ == 0) BP_TRY(reserve());
  const size_t piece = round_up(bytes - mapped_, granule_);
  if (mapped_ + piece > reserved_) return refused(device_, kCuOutOfMemory, bytes, owner_);
  const CuPhysicalProperties properties = properties_of(device_);
  CuPhysicalMemory memory = 0;
  CuResult result = driver.mem_create(&memory, piece, &properties, 0);
  if (result != kCuSuccess) return refused(device_, result, bytes, owner_);
  const CuAddress place = address_ + mapped_;
  result = driver.mem_map(place, piece, 0, memory, 0);
  driver.mem_release(memory);  // lives as long as it is mapped
  if (result != kCuSuccess) return refused(device_, result, bytes, owner_);
  const CuAccess access{properties.location, kReadAndWrite};
  result = driver.mem_set_access(place, piece, &access, 1);
  if (result != kCuSuccess) {
    driver.mem_unmap(place, piece);
    return refused(device_, result, bytes, owner_);
  }
  pieces_.push_back(piece);
  mapped_ += piece;
  return Ok{};
}

}  // namespace backplane::cuda
