// The sizes that a plan uses, each once: equal sizes have equal ids.
#pragma once

#include <backplane/graph.hpp>
#include <backplane/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cuda/payload_records.hpp"

namespace backplane::cuda::compiler {

class SizeTable {
 public:
  explicit SizeTable(const sdk::Graph& graph);

  [[nodiscard]] SizeId constant(int64_t number);
  // unsupported: it can't be known from the inputs' shapes.
  [[nodiscard]] Result<SizeId> of(const bp_dim_t& dim);
  [[nodiscard]] SizeId add(SizeId a, SizeId b);
  [[nodiscard]] SizeId multiply(SizeId a, SizeId b);
  [[nodiscard]] SizeId floor_div(SizeId a, SizeId b);
  [[nodiscard]] SizeId ceil_div(SizeId a, SizeId b);
  // a / b, where that is known to leave no rest.
  [[nodiscard]] std::optional<SizeId> exact_div(SizeId a, SizeId b);

  [[nodiscard]] std::optional<int64_t> known(SizeId id) const { return entries_[id].known; }
  [[nodiscard]] bool is(SizeId id, int64_t number) const { return entries_[id].known == number; }
  // Never exceeded; INT64_MAX: not known.
  [[nodiscard]] int64_t bound(SizeId id) const { return entries_[id].bound; }

  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  [[nodiscard]] std::vector<Size> sizes() const;

 private:
  struct Entry {
    Range tokens;
    std::optional<int64_t> known;
    int64_t bound;
    // A product: its constant factor and its other factors, sorted; else itself alone.
    int64_t factor = 1;
    std::vector<SizeId> factors = {};
  };

  SizeId append(std::vector<Token> tokens, int64_t bound);
  SizeId product(int64_t factor, std::vector<SizeId> factors);
  SizeId binary(uint32_t op, SizeId a, SizeId b, int64_t bound);
  [[nodiscard]] Result<SizeId> symbol(int32_t index);
  [[nodiscard]] Result<SizeId> expression(const bp_symbol_t& symbol);
  // An id of its own, or the factors that it is made of.
  [[nodiscard]] std::pair<int64_t, std::vector<SizeId>> factors_of(SizeId id) const;

  sdk::Graph graph_;
  std::vector<Token> tokens_;
  std::vector<Entry> entries_;
  std::map<std::vector<std::tuple<uint32_t, uint32_t, int64_t>>, SizeId> by_tokens_;
  std::map<int32_t, SizeId> by_symbol_;
};

}  // namespace backplane::cuda::compiler
