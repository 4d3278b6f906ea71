#include "cuda/payload.hpp"

#include <array>
#include <cstring>
#include <string>
#include <type_traits>

namespace backplane::cuda {
namespace {

constexpr std::array<char, 8> kMagic = {'B', 'P', 'C', 'U', 'D', 'A', 0, 1};
constexpr size_t kAlign = 16;

struct Header {
  std::array<char, 8> magic;
  uint64_t size;
  uint64_t check;
  uint64_t num_arrays;
};
struct Place {
  uint64_t offset, size;
};

constexpr size_t aligned(size_t offset) {
  return (offset + kAlign - 1) / kAlign * kAlign;
}

// Of all after the header: tells damage from a bug, nothing more.
uint64_t check_sum(std::span<const std::byte> bytes) {
  uint64_t sum = bytes.size();
  const auto mix = [&sum](uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
    sum ^= sum >> 29;
  };
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    mix(word);
  }
  uint64_t rest = 0;
  if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  mix(rest);
  return sum;
}

size_t count_arrays() {
  size_t count = 0;
  PlanView plan;
  for_each_array(plan, [&](auto&) { ++count; });
  return count;
}

Error damaged(const std::string& what) {
  return {Code::invalid_argument, "the payload is damaged: " + what};
}

}  // namespace

std::vector<std::byte> write_payload(const Plan& plan) {
  std::vector<Place> places;
  size_t end = sizeof(Header) + count_arrays() * sizeof(Place);
  for_each_array(plan, [&](const auto& array) {
    using T = typename std::remove_cvref_t<decltype(array)>::value_type;
    static_assert(std::has_unique_object_representations_v<T> || std::is_same_v<T, Gemm>,
                  "no padding: the same plan gives the same bytes");
    end = aligned(end);
    places.push_back({end, array.size() * sizeof(T)});
    end += places.back().size;
  });
  std::vector<std::byte> out(aligned(end));
  std::memcpy(out.data() + sizeof(Header), places.data(), places.size() * sizeof(Place));
  size_t next = 0;
  for_each_array(plan, [&](const auto& array) {
    const Place& place = places[next++];
    if (place.size != 0) std::memcpy(out.data() + place.offset, array.data(), place.size);
  });
  const Header header{kMagic, out.size(), check_sum(std::span(out).subspan(sizeof(Header))),
                      places.size()};
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

PlanView view_of(const Plan& plan) {
  PlanView view;
  std::vector<std::span<const std::byte>> arrays;
  for_each_array(plan, [&](const auto& array) {
    arrays.push_back(std::as_bytes(std::span(array.data(), array.size())));
  });
  size_t next = 0;
  for_each_array(view, [&](auto& array) {
    using T = typename std::remove_cvref_t<decltype(array)>::value_type;
    const auto bytes = arrays[next++];
    array = {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  });
  return view;
}

Result<PlanView> read_payload(std::span<const std::byte> payload) {
  Header header;
  if (payload.size() < sizeof header) return damaged("it is cut off");
  std::memcpy(&header, payload.data(), sizeof header);
  if (std::memcmp(header.magic.data(), kMagic.data(), kMagic.size() - 1) != 0)
    return damaged("it is not of the CUDA plugin");
  if (header.magic.back() != kMagic.back()) {
    return Error{Code::incompatible,
                 "the payload has format " + std::to_string(header.magic.back()) +
                     ", and this plugin reads " + std::to_string(kMagic.back()) +
                     ": lower the program again"};
  }
  const size_t num_arrays = count_arrays();
  if (header.size != payload.size()) return damaged("it is cut off");
  if (reinterpret_cast<uintptr_t>(payload.data()) % kAlign != 0)
    return Error{Code::internal, "the payload is not aligned to 16 bytes"};
  if (header.check != check_sum(payload.subspan(sizeof header))) return damaged("the check sum");
  if (header.num_arrays != num_arrays ||
      payload.size() < sizeof header + num_arrays * sizeof(Place))
    return damaged("the number of its arrays");
  std::vector<Place> places(num_arrays);
  std::memcpy(places.data(), payload.data() + sizeof header, num_arrays * sizeof(Place));
  PlanView plan;
  size_t next = 0;
  bool is_sound = true;
  for_each_array(plan, [&](auto& array) {
    using T = typename std::remove_cvref_t<decltype(array)>::value_type;
    const Place& place = places[next++];
    const bool fits = place.offset % kAlign == 0 && place.offset <= payload.size() &&
                      place.size <= payload.size() - place.offset && place.size % sizeof(T) == 0 &&
                      place.size / sizeof(T) < kNone;
    is_sound = is_sound && fits;
    if (fits) {
      array = {reinterpret_cast<const T*>(payload.data() + place.offset), place.size / sizeof(T)};
    }
  });
  if (!is_sound) return damaged("an array lies outside of it");
  if (auto checked = check_plan(plan); !checked.ok())
    return damaged(std::move(checked).error().message);
  return plan;
}

}  // namespace backplane::cuda
