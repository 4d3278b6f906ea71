// Operator schemas: what an operator takes and gives, with defaults, as PyTorch declares them.
//
// The table is generated (table.inc, by make/…) from torch's own registry; schemas of custom
// operators are parsed from kernel libraries' text by the same parser.
#pragma once

#include <backplane/result.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/argument.hpp"

namespace backplane::ops {

enum class Kind : uint8_t {
  tensor,
  scalar,
  integer /* int and SymInt */,
  floating,
  boolean,
  string,
  dtype,
  layout,
  memory_format,
  device,
  generator,
  dimname,
  other,
};

struct Parameter {
  std::string name;
  Kind kind = Kind::other;
  bool optional = false;           // T?
  bool list = false;               // T[]
  bool optional_elements = false;  // T?[]
  int32_t list_size = 0;           // T[2]: a single value stands for all
  bool keyword_only = false;
  char alias = 0;        // 'a' of Tensor(a) and Tensor(a!); '*' of (a -> *)
  bool written = false;  // Tensor(a!)
  bool is_out = false;   // an output argument of an out variant
  std::optional<Argument> default_value;
};

struct Return {
  Kind kind = Kind::tensor;
  bool list = false;
  char alias = 0;
  bool written = false;
};

struct Schema {
  std::string name;                   // "aten::add.Tensor"; "aten::relu"
  std::vector<Parameter> parameters;  // out arguments last
  std::vector<Return> returns;
  std::string out;  // functional operator: its out form, "aten::add.out"; empty if it writes,
                    // or if a result is no tensor
  std::string functional;  // in-place operator: "aten::add.Tensor" for "aten::add_.Tensor", which
                           // takes the same arguments in the same order; where more than the
                           // result was written, its results are followed by the new values
  std::string copy;        // view operator: "aten::permute_copy" for "aten::permute"
  bool core = false;       // tagged core ATen
  bool composite = false;  // CompositeImplicitAutograd: defined by other operators
  bool random = false;     // nondeterministic_seeded

  [[nodiscard]] int index_of(std::string_view parameter) const;  // -1 if none
  [[nodiscard]] bool is_view() const { return !copy.empty(); }
  [[nodiscard]] bool mutates() const;
};

// Parses "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
// invalid_argument names the place in the text.
[[nodiscard]] Result<Schema> parse_schema(std::string_view text);

// All schemas known: the built-in table and what kernel libraries add. Lookups may parse on first
// use; thread safe. Returned pointers live as long as the table.
class Table {
 public:
  Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table();
  [[nodiscard]] const Schema* find(std::string_view name) const;
  // Adds a schema from text; one that is there already is kept.
  Status add(std::string_view text);
  // The out form: torch's own where it has one, else the functional schema + `out` (or `out0`,
  // `out1`, …) for each result. Bind by name: torch's lack dtype, layout, device and pin_memory
  // where the functional one has them (the output says), and may have more with defaults. Null if
  // unknown.
  [[nodiscard]] const Schema* find_out(const Schema& functional) const;
  // Names of all operators, sorted.
  [[nodiscard]] std::vector<std::string_view> names() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace backplane::ops
