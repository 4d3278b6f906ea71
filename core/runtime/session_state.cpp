#include <cstring>

#include "runtime/loaded_program.hpp"

namespace backplane::runtime {
namespace {

void fill(const StatePlan& plan, Block& buffer) {
  if (plan.size_bytes == 0) return;
  if (plan.initial.empty()) {
    std::memset(buffer.data(), 0, plan.size_bytes);
  } else {
    std::memcpy(buffer.data(), plan.initial.data(), plan.size_bytes);
  }
}

Result<std::shared_ptr<SessionState>> with_buffers(std::shared_ptr<const LoadedProgram> program,
                                                   DelegateSessions delegates) {
  auto session = std::make_shared<SessionState>(std::move(program), std::move(delegates));
  for (const StatePlan& plan : session->program->states) {
    if (!session->buffers.emplace_back().allocate(plan.size_bytes)) {
      return Error{Code::out_of_memory,
                   session->program->path + ": buffer '" + plan.key + "' needs " +
                       std::to_string(plan.size_bytes) +
                       " bytes of host memory, which the system does not give"};
    }
  }
  return session;
}

}  // namespace

Result<std::shared_ptr<SessionState>> SessionState::create(
    std::shared_ptr<const LoadedProgram> program) {
  BP_ASSIGN_OR_RETURN(DelegateSessions delegates, DelegateSessions::create(program->delegates));
  BP_ASSIGN_OR_RETURN(auto session, with_buffers(std::move(program), std::move(delegates)));
  for (size_t i = 0; i < session->buffers.size(); ++i) {
    const StatePlan& plan = session->program->states[i];
    if (!plan.initial.empty()) fill(plan, session->buffers[i]);  // new buffers are zeros
  }
  return session;
}

Result<std::shared_ptr<SessionState>> SessionState::copy() const {
  BP_ASSIGN_OR_RETURN(DelegateSessions copies, delegates.copy());
  BP_ASSIGN_OR_RETURN(auto session, with_buffers(program, std::move(copies)));
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::memcpy(session->buffers[i].data(), buffers[i].data(), buffers[i].size());
  }
  session->random.seed(random.state());
  return session;
}

Status SessionState::reset() {
  for (size_t i = 0; i < buffers.size(); ++i) fill(program->states[i], buffers[i]);
  return delegates.reset();
}

}  // namespace backplane::runtime
