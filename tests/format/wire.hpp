// FlatBuffers read by hand, from the documented positions: the tests' own view of a file, which
// shares nothing with the code under test. Offsets are from the start of the file.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "format/named_data.hpp"

namespace backplane {

struct Wire {
  Bytes file;

  template <class T>
  T at(size_t offset) const {
    REQUIRE(offset + sizeof(T) <= file.size());
    T value;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
  }
  std::string text(size_t offset, size_t size) const {
    REQUIRE(offset + size <= file.size());
    return {reinterpret_cast<const char*>(file.data()) + offset, size};
  }
};

struct WireTable {
  Wire wire;
  size_t start;

  // The position of the field, 0 if it is absent. Slot 4 + 2 * id of the table's vtable.
  size_t field(size_t id) const {
    const size_t vtable = start - static_cast<size_t>(int64_t{wire.at<int32_t>(start)});
    const size_t slot = 4 + 2 * id;
    if (slot >= wire.at<uint16_t>(vtable)) return 0;
    const auto offset = wire.at<uint16_t>(vtable + slot);
    return offset == 0 ? 0 : start + offset;
  }
  template <class T>
  T scalar(size_t id) const {
    return field(id) == 0 ? T{} : wire.at<T>(field(id));
  }
  // Where the field's offset points.
  size_t target(size_t id) const {
    REQUIRE(field(id) != 0);
    return field(id) + wire.at<uint32_t>(field(id));
  }
  WireTable table(size_t id) const { return {wire, target(id)}; }
  std::string text(size_t id) const {
    return wire.text(target(id) + 4, wire.at<uint32_t>(target(id)));
  }
  size_t count(size_t id) const { return wire.at<uint32_t>(target(id)); }
  template <class T>
  std::vector<T> list(size_t id) const {
    std::vector<T> items;
    for (size_t i = 0; i < count(id); ++i) {
      items.push_back(wire.at<T>(target(id) + 4 + i * sizeof(T)));
    }
    return items;
  }
  WireTable item(size_t id, size_t index) const {
    const size_t entry = target(id) + 4 + 4 * index;
    return {wire, entry + wire.at<uint32_t>(entry)};
  }
};

inline WireTable root_of(Bytes file) {
  return {{file}, Wire{file}.at<uint32_t>(0)};
}

}  // namespace backplane
