// The public classes: thin covers of what the other sources do.
#include <backplane/program.hpp>

#include "runtime/method_state.hpp"

namespace backplane {

struct Program::Impl : runtime::LoadedProgram {};

struct Session::Impl {
  // Shared: methods keep the state alive, in any order of destruction.
  std::shared_ptr<runtime::SessionState> state;
};

struct Method::Impl {
  std::unique_ptr<runtime::MethodState> state;
};

Program::Program(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

Result<Program> Program::load(const std::string& path, PluginSource& plugins,
                              const LoadOptions& options) {
  auto impl = std::make_shared<Impl>();
  BP_TRY(runtime::load_program(*impl, path, plugins, options));
  return Program(std::move(impl));
}

std::span<const MethodInfo> Program::methods() const {
  return impl_->infos;
}

Result<Session> Program::session() const {
  BP_ASSIGN_OR_RETURN(auto state, runtime::SessionState::create(impl_));
  return Session(std::make_unique<Session::Impl>(std::move(state)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result<Method> Session::method(std::string_view name) {
  const auto& infos = impl_->state->program->infos;
  std::string names;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) {
      BP_ASSIGN_OR_RETURN(auto state, runtime::MethodState::create(impl_->state, i));
      return Method(std::make_unique<Method::Impl>(std::move(state)));
    }
    names += (names.empty() ? "" : ", ") + infos[i].name;
  }
  return Error{Code::not_found, impl_->state->program->path + ": has no method '" +
                                    std::string(name) + "', it has: " + names};
}

Status Session::reset() {
  return impl_->state->reset();
}

Result<Session> Session::copy() const {
  BP_ASSIGN_OR_RETURN(auto state, impl_->state->copy());
  return Session(std::make_unique<Impl>(std::move(state)));
}

void Session::seed(uint64_t seed) {
  impl_->state->random.seed(seed);
}

Method::Method(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Method::~Method() = default;
Method::Method(Method&&) noexcept = default;
Method& Method::operator=(Method&&) noexcept = default;

const MethodInfo& Method::info() const {
  return impl_->state->info();
}

Status Method::set_input(size_t index, const TensorView& view) {
  return impl_->state->set_input(index, view);
}
Status Method::set_input(size_t index, const ScalarValue& value) {
  return impl_->state->set_input(index, value);
}
Status Method::set_output(size_t index, const TensorView& buffer) {
  return impl_->state->set_output(index, buffer);
}
Status Method::execute(const ExecuteOptions& options) {
  return impl_->state->execute(options);
}
Result<TensorView> Method::output(size_t index) const {
  return impl_->state->output(index);
}
Result<ScalarValue> Method::output_scalar(size_t index) const {
  return impl_->state->output_scalar(index);
}
Result<TensorView> Method::mutated_input(size_t index) const {
  return impl_->state->mutated_input(index);
}
Result<Tensor> Method::to_host(const TensorView& view) const {
  return impl_->state->to_host(view);
}

}  // namespace backplane
