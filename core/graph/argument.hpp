// What a node passes to its operator: values of the graph and literals, by the kinds of a schema.
#pragma once

#include <backplane/dtype.hpp>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace backplane {

using ValueId = int32_t;  // index into Graph::values
using NodeId = int32_t;   // index into Graph::nodes
inline constexpr int32_t kNone = -1;

enum class MemoryFormat : uint8_t {
  contiguous = 0,
  preserve = 1,
  channels_last = 2,
  channels_last_3d = 3
};
enum class Layout : uint8_t { strided = 0, other = 255 };

struct DeviceArg {
  std::string type;  // "cpu", "cuda", …
  int32_t index = -1;
  friend bool operator==(const DeviceArg&, const DeviceArg&) = default;
};

struct None {
  friend bool operator==(const None&, const None&) = default;
};

// A value of the graph: a tensor, or a symbolic number.
struct ValueRef {
  ValueId id;
  friend bool operator==(const ValueRef&, const ValueRef&) = default;
};

// Tensor[] or Tensor?[]: kNone where a hole is.
struct ValueList {
  std::vector<ValueId> ids;
  friend bool operator==(const ValueList&, const ValueList&) = default;
};

// One element of an integer list: a literal, or a value of kind sym_int.
struct IntElement {
  int64_t literal = 0;
  ValueId value = kNone;
  [[nodiscard]] bool is_literal() const { return value == kNone; }
  friend bool operator==(const IntElement&, const IntElement&) = default;
};
using IntList = std::vector<IntElement>;

// A graph of the module (a body of cond, while_loop, …), by index into Module::graphs.
struct GraphRef {
  int32_t index;
  friend bool operator==(const GraphRef&, const GraphRef&) = default;
};

// Something that the reader could not take in; refused where it is used.
struct UnknownArgument {
  std::string tag;
  friend bool operator==(const UnknownArgument&, const UnknownArgument&) = default;
};

using Argument = std::variant<None, ValueRef, ValueList, int64_t, double, bool,
                              std::complex<double>, std::string, IntList, std::vector<double>,
                              std::vector<bool>, std::vector<std::string>,
                              std::vector<std::vector<int64_t>>, std::vector<std::vector<double>>,
                              DType, MemoryFormat, Layout, DeviceArg, GraphRef, UnknownArgument>;

// `name` points to a schema's text or into Module::strings.
struct NamedArgument {
  std::string_view name;  // empty for the operands of higher-order operators
  Argument value;
};

}  // namespace backplane
