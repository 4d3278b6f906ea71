// The walk of pass functionalize over one graph. Internal to core/passes.
#pragma once

#include <vector>

#include "passes/aliases.hpp"
#include "passes/in_place.hpp"

namespace backplane::passes {

// Inputs that a body writes, ascending; their new contents are its last outputs, in this order.
using Written = std::vector<size_t>;

// Every operand is read through Aliases, so a node sees what its operand holds when eager PyTorch
// would run it. Bodies come before the graphs that use them.
class Functionalizer {
 public:
  // `written` has an entry for each graph of the module, filled for the graphs that are done.
  Functionalizer(Module& module, Graph& graph, const ops::Table& table,
                 std::vector<Written>& written)
      : module_(module),
        graph_(graph),
        num_values_(graph.values.size()),
        r_(module, graph, table),
        aliases_(r_),
        in_place_(r_, aliases_),
        written_(written) {}

  // Rewrites the method; or a body, of which it returns what it writes.
  Status run_method();
  Result<Written> run_body();

 private:
  Status visit(Node& node);
  Status visit_bodies(Node& node);
  Status visit_strided(Node& node);
  Status visit_cond(Node& node, const std::vector<int32_t>& bodies);
  Status visit_while(Node& node, const std::vector<int32_t>& bodies);
  Status refuse_shared(const std::vector<Argument>& operands, size_t written) const;
  ValueId new_contents(const Argument& operand);
  void read_operands(Node& node);
  void share_constants();
  Status refuse_overlapping();
  Status walk();
  Status add_mutation(Output::Kind kind, ValueId value, std::string target);

  Module& module_;
  Graph& graph_;
  size_t num_values_;  // of the exported program
  Rewriter r_;
  Aliases aliases_;
  InPlace in_place_;
  std::vector<Output> mutations_;
  std::vector<Written>& written_;  // by graph
};

}  // namespace backplane::passes
