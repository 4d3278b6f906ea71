// Running lowered programs: Program (file, weights), Session (state), Method (one computation).
//
//   auto plugins = backplane::Plugins::standard();                 // backplane/plugins.hpp
//   auto program = backplane::Program::load("digits.pte", plugins);
//   auto session = program->session();
//   auto method = session->method("forward");
//   method->set_input(0, view); method->execute(); auto out = method->output(0);
//
// A Program is immutable and may be shared by threads; its weights are there once. A Session holds
// the mutable buffers (by name) that its methods share; sessions don't see each other. A Method is
// used by one thread at a time; many run at once. Each keeps what it came from alive. Errors name
// the file, method, node or option concerned and leave the object usable.
#pragma once

#include <backplane/dtype.hpp>
#include <backplane/result.hpp>
#include <backplane/tensor.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace backplane {

class PluginSource;

struct LoadOptions {
  std::string data_path;       // the .ptd; empty: the one that the .pte names, in the same folder
  bool verify_hashes = false;  // also compare the SHA-256 of every weight
  std::vector<std::string> kernel_libraries;  // preferred first; empty: all, in search order
  std::vector<std::pair<std::string, std::string>> options;  // load-time options, "plugin:key" or "key"
};

// One dimension of an input or output. max == INT64_MAX: no bound.
struct DimBounds {
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t multiple_of = 1;
  std::string symbol;  // "s0" where dimensions of one name are equal; empty if static or unknown
};

enum class SlotKind : uint8_t { tensor, integer, floating, boolean, string, none };

struct SlotInfo {
  SlotKind kind = SlotKind::tensor;
  std::string name;                 // as the exported program called it; may be empty
  DType dtype = DType::f32;
  std::vector<DimBounds> dims;
  std::vector<uint8_t> dim_order;   // outermost to innermost
  bool mutated = false;             // input: the method writes it
};

struct MethodInfo {
  std::string name;
  std::vector<SlotInfo> inputs;
  std::vector<SlotInfo> outputs;    // what the caller gets; mutations are not listed
  std::vector<std::string> delegates;
  uint64_t planned_bytes = 0;       // arena of one Method
};

// An input or output that is not a tensor.
using ScalarValue = std::variant<std::monostate, int64_t, double, bool, std::string>;

struct ExecuteOptions {
  void* stream = nullptr;                         // of the delegates' device; null: done on return
  const volatile int32_t* cancel = nullptr;       // non-zero asks to stop, at the next instruction
};

class Session;

class Method {
 public:
  ~Method();
  Method(Method&&) noexcept;
  Method& operator=(Method&&) noexcept;

  [[nodiscard]] const MethodInfo& info() const;

  // Gives input `index`. `view` is borrowed until the next execute returns and may be host or
  // device memory with any strides. invalid_argument: dtype, rank or a size outside its bounds.
  Status set_input(size_t index, const TensorView& view);
  // A number input: must equal what the program was exported with.
  Status set_input(size_t index, const ScalarValue& value);
  // A buffer of the caller's for output `index`, used by every execute from now on; a view without
  // data takes it back. output_too_small unless it holds the output's upper bound.
  Status set_output(size_t index, const TensorView& buffer);

  Status execute(const ExecuteOptions& options = {});

  // Results of the last execute; valid until the next one. Tensors are where the program left them.
  [[nodiscard]] Result<TensorView> output(size_t index) const;
  [[nodiscard]] Result<ScalarValue> output_scalar(size_t index) const;
  // An input that the method wrote (SlotInfo::mutated), after execute.
  [[nodiscard]] Result<TensorView> mutated_input(size_t index) const;
  // A copy in host memory of what one of these gave, wherever it lies. unsupported: it is on a device
  // that no delegate of this method works on.
  [[nodiscard]] Result<Tensor> to_host(const TensorView& view) const;

 private:
  friend class Session;
  struct Impl;
  explicit Method(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Session {
 public:
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // not_found names the methods there are.
  [[nodiscard]] Result<Method> method(std::string_view name);
  // State as it was when the program was lowered. No method of this session may be running.
  Status reset();
  // A session with a copy of the present state.
  [[nodiscard]] Result<Session> copy() const;
  // Seeds the generator of random operators; a new session has seed 0.
  void seed(uint64_t seed);

 private:
  friend class Program;
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Program {
 public:
  // Maps `path` and its weights and resolves every operator and delegate. All that is missing is
  // listed in one error. not_found, incompatible (another program's weights), invalid_argument
  // (damaged), unsupported, unavailable. `plugins` must outlive the process's use of the program.
  [[nodiscard]] static Result<Program> load(const std::string& path, PluginSource& plugins,
                                            const LoadOptions& options = {});
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  [[nodiscard]] std::span<const MethodInfo> methods() const;
  [[nodiscard]] Result<Session> session() const;

 private:
  struct Impl;
  // Shared: sessions and methods keep it alive, in any order of destruction.
  explicit Program(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace backplane
