#include "cuda/runtime/captured_graph.hpp"

namespace backplane::cuda {

Result<std::unique_ptr<CapturedGraph>> CapturedGraph::capture(const Device& device,
                                                              Schedule& schedule, CuStream stream) {
  std::unique_ptr<CapturedGraph> graph(new CapturedGraph(device));
  const Driver& driver = device.driver();
  BP_TRY(driver.check(driver.stream_begin_capture(stream, kCuCaptureThreadLocal), "a capture"));
  Status status = graph->record(schedule, stream);
  // Ends in any case: the stream would be unusable else.
  const CuResult ended = driver.stream_end_capture(stream, &graph->graph_);
  BP_TRY(std::move(status));
  BP_TRY(driver.check(ended, "a capture"));
  BP_TRY(driver.check(driver.graph_instantiate(&graph->exec_, graph->graph_, 0), "a graph"));
  return graph;
}

CapturedGraph::~CapturedGraph() {
  const Current current(device_);
  if (exec_ != nullptr) device_.driver().graph_exec_destroy(exec_);
  if (graph_ != nullptr) device_.driver().graph_destroy(graph_);
}

// After each launch, the stream's last node is that launch's.
Status CapturedGraph::record(Schedule& schedule, CuStream stream) {
  const Driver& driver = device_.driver();
  nodes_.assign(schedule.launches().size(), nullptr);
  return schedule.enqueue(stream, [&](uint32_t launch) -> Status {
    CuCaptureStatus status = kCuNotCapturing;
    const CuGraphNode* last = nullptr;
    const CuGraphEdge* edges = nullptr;
    size_t count = 0;
    BP_TRY(driver.check(
        driver.stream_get_capture_info(stream, &status, nullptr, nullptr, &last, &edges, &count),
        "a capture"));
    if (status != kCuCapturing || count != 1)
      return Error{Code::internal, "a capture has no last node"};
    nodes_[launch] = *last;
    return Ok{};
  });
}

Status CapturedGraph::update(Schedule& schedule, const std::set<uint32_t>& launches) {
  for (const uint32_t index : launches) {
    if (nodes_[index] == nullptr) continue;
    const BoundLaunch& launch = schedule.launches()[index];
    CuKernelNodeParams params{};
    params.function = launch.function;
    for (int d = 0; d < 3; ++d) {
      params.grid[d] = launch.grid[d];
      params.block[d] = launch.block[d];
    }
    params.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    params.params = schedule.launches().params(launch);
    BP_TRY(device_.driver().check(
        device_.driver().graph_exec_kernel_node_set_params(exec_, nodes_[index], &params),
        "new addresses for a graph"));
  }
  return Ok{};
}

Status CapturedGraph::launch(CuStream stream) {
  return device_.driver().check(device_.driver().graph_launch(exec_, stream), "a graph");
}

}  // namespace backplane::cuda
