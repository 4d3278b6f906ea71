// A graph is the list of what was captured, and runs in that order.
#include "state.hpp"

using namespace backplane::cuda;  // NOLINT(google-build-using-namespace)
using standin::state;

namespace {

void take(CuGraphExecObject& exec, const CuGraphObject& graph) {
  exec.nodes = graph.nodes;
  exec.works.clear();
  for (const auto& node : graph.nodes) exec.works.push_back(node->work);
}

}  // namespace

extern "C" {

CuResult cuGraphDestroy(CuGraph graph) {
  STANDIN_ENTER("cuGraphDestroy");
  delete graph;
  --state().counts.graphs;
  return kCuSuccess;
}
CuResult cuGraphInstantiateWithFlags(CuGraphExec* exec, CuGraph graph, unsigned long long) {
  STANDIN_ENTER("cuGraphInstantiate");
  *exec = new CuGraphExecObject;
  take(**exec, *graph);
  ++state().counts.execs;
  return kCuSuccess;
}
CuResult cuGraphExecUpdate_v2(CuGraphExec exec, CuGraph graph, CuGraphUpdateResult* result) {
  STANDIN_ENTER("cuGraphExecUpdate");
  *result = {};
  bool same = exec->works.size() == graph->nodes.size();
  for (size_t i = 0; same && i < exec->works.size(); ++i)
    same = exec->works[i].kind == graph->nodes[i]->work.kind;
  if (!same) return kCuGraphUpdateFailed;
  // Handles of nodes stay those of the graph that the exec was made from.
  for (size_t i = 0; i < exec->works.size(); ++i) exec->works[i] = graph->nodes[i]->work;
  return kCuSuccess;
}
CuResult cuGraphExecKernelNodeSetParams_v2(CuGraphExec exec, CuGraphNode node,
                                           const CuKernelNodeParams* params) {
  STANDIN_ENTER("cuGraphExecKernelNodeSetParams");
  for (size_t i = 0; i < exec->nodes.size(); ++i) {
    standin::Work& work = exec->works[i];
    if (exec->nodes[i].get() != node) continue;
    if (work.kind != standin::Work::Kind::kernel) return kCuInvalidValue;
    const auto* kernel = reinterpret_cast<const CuKernelObject*>(params->function);
    if (kernel == nullptr) kernel = params->kernel;
    work.twin = kernel->twin;
    for (int d = 0; d < 3; ++d) {
      work.launch.grid[d] = params->grid[d];
      work.launch.block[d] = params->block[d];
    }
    work.launch.dynamic_shared_bytes = params->dynamic_shared_bytes;
    work.set_params(params->params);
    ++state().counts.kernel_updates;
    return kCuSuccess;
  }
  return kCuInvalidValue;
}
CuResult cuGraphExecDestroy(CuGraphExec exec) {
  STANDIN_ENTER("cuGraphExecDestroy");
  delete exec;
  --state().counts.execs;
  return kCuSuccess;
}
CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  STANDIN_ENTER("cuGraphLaunch");
  ++state().counts.graph_launches;
  for (const standin::Work& work : exec->works) standin::submit(stream, work);
  return kCuSuccess;
}
}
