// What the inputs and outputs of a program are: its signature, and how it shapes the graph.
#pragma once

#include <backplane/result.hpp>

#include <string>
#include <vector>

#include "reader/graph_scope.hpp"
#include "reader/json.hpp"
#include "reader/payloads.hpp"

namespace backplane {

struct InputSpec {
  enum class Kind : uint8_t { user, parameter, buffer, constant, other };
  Kind kind = Kind::other;  // other: objects and tokens, which can't be used
  std::string name;         // of the value; empty for the user's
  std::string target;       // FQN of a parameter, buffer or constant
  bool persistent = true;
};

struct OutputSpec {
  enum class Kind : uint8_t { user, buffer_mutation, input_mutation, token, gradient };
  Kind kind = Kind::user;
  std::string target;  // FQN of the buffer, or name of the input, that is written
};

struct Signature {
  std::vector<InputSpec> inputs;    // one for each input of the graph
  std::vector<OutputSpec> outputs;  // one for each output
};

// invalid_argument: malformed. unsupported: a kind of input or output that is not known.
[[nodiscard]] Result<Signature> read_signature(json::Value& object, ReadContext& context);

struct ModelPayloads {
  Payloads weights;    // the state dict
  Payloads constants;  // buffers outside of it, and tensors that export lifted
};

// Gives the scope's inputs and outputs their roles, adds the constants to the module, closes the
// scope. Constants that nothing uses and that can't be read are left out.
// invalid_argument: signature and graph disagree; a constant is missing, or is not what the graph
// says. unsupported: a constant that can't be read; gradients. Names the value.
Status apply_signature(GraphScope& scope, const Signature& signature, ModelPayloads& payloads);

}  // namespace backplane
