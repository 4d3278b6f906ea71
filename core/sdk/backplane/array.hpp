// The contract's text and arrays in C++: string_view for bp_str_t, ranges over strided arrays.
#pragma once

#include <backplane/types.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace backplane::sdk {

[[nodiscard]] constexpr std::string_view view(bp_str_t text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}
[[nodiscard]] constexpr bp_str_t text(std::string_view view) {
  return {view.data(), view.size()};
}

// A bp_array_t of T, whose elements may be longer than T. Borrows; `for (const T& t : array)`.
template <class T>
class Array {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const char* at, uint32_t stride) : at_(at), stride_(stride) {}
    const T& operator*() const { return *reinterpret_cast<const T*>(at_); }
    const T* operator->() const { return reinterpret_cast<const T*>(at_); }
    Iterator& operator++() {
      at_ += stride_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const char* at_ = nullptr;
    uint32_t stride_ = 0;
  };

  explicit Array(bp_array_t array) : array_(array) {}
  [[nodiscard]] uint32_t size() const { return array_.count; }
  [[nodiscard]] bool empty() const { return array_.count == 0; }
  const T& operator[](size_t i) const { return *BP_AT(T, array_, i); }
  [[nodiscard]] Iterator begin() const { return {bytes(), array_.stride}; }
  [[nodiscard]] Iterator end() const {
    return {empty() ? bytes() : bytes() + uint64_t{array_.count} * array_.stride, array_.stride};
  }

 private:
  [[nodiscard]] const char* bytes() const { return static_cast<const char*>(array_.data); }
  bp_array_t array_;
};

// `items` as a bp_array_t, which borrows them.
template <class T>
[[nodiscard]] constexpr bp_array_t array_of(std::span<const T> items) {
  return {items.data(), static_cast<uint32_t>(items.size()), sizeof(T)};
}

}  // namespace backplane::sdk
