// Python pickles as plain data: numbers, texts, containers, and calls of named functions that are
// recorded and never made.
//
// Only what PyTorch writes for tensors is taken in; which globals may be named is the caller's
// list.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane {

enum class PickleKind : uint8_t {
  none,
  boolean,  // integer: 0 or 1
  integer,
  real,
  text,        // text
  tuple,       // items
  list,        // items
  dict,        // items: key, value, key, value, …; a collections.OrderedDict too
  global,      // text: "torch.FloatStorage"
  call,        // items: the global, then its arguments
  persistent,  // items: one, the id (a tuple) of something that lies outside of the pickle
};

struct PickleValue {
  PickleKind kind = PickleKind::none;
  int64_t integer = 0;
  double real = 0;
  std::string_view text;        // into the bytes, or the list of allowed globals
  std::vector<uint32_t> items;  // indices into Pickle::values
};

// Values refer to one another by index. One may be referred to from several places, and a list may
// hold itself: whoever follows items must bound the depth.
struct Pickle {
  std::vector<PickleValue> values;
  uint32_t root = 0;

  [[nodiscard]] const PickleValue& operator[](uint32_t index) const { return values[index]; }
  [[nodiscard]] const PickleValue& top() const { return values[root]; }
};

// Reads protocols 2 to 5, as far as torch.save uses them. `allowed`: globals that may be named,
// "module.name". `bytes` must outlive the result. Memory and time are linear in the bytes.
// invalid_argument: cut short or malformed. unsupported: a global that is not allowed (named), an
// integer over 64 bits, an opcode that tensors never need.
[[nodiscard]] Result<Pickle> read_pickle(std::span<const std::byte> bytes,
                                         std::span<const std::string_view> allowed);

}  // namespace backplane
