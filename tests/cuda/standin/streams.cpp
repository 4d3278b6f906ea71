// Streams, events and captures. What is queued has run already when the call returns.
#include <chrono>

#include "state.hpp"

using namespace backplane::cuda;  // NOLINT(google-build-using-namespace)
using standin::state;

extern "C" {

CuResult cuStreamCreate(CuStream* stream, unsigned) {
  STANDIN_ENTER("cuStreamCreate");
  *stream = new CuStreamObject;
  ++state().counts.streams;
  return kCuSuccess;
}
CuResult cuStreamDestroy_v2(CuStream stream) {
  STANDIN_ENTER("cuStreamDestroy");
  delete stream;
  --state().counts.streams;
  return kCuSuccess;
}
CuResult cuStreamSynchronize(CuStream stream) {
  STANDIN_ENTER("cuStreamSynchronize");
  if (stream == nullptr || stream->capture == nullptr) return kCuSuccess;
  stream->is_broken = true;
  return kCuCaptureUnsupported;
}
CuResult cuStreamWaitEvent(CuStream, CuEvent, unsigned) {
  STANDIN_ENTER("cuStreamWaitEvent");
  return kCuSuccess;
}
CuResult cuStreamGetCtx(CuStream, CuContext* context) {
  STANDIN_ENTER("cuStreamGetCtx");
  *context = &state().context;
  return kCuSuccess;
}
CuResult cuEventCreate(CuEvent* event, unsigned) {
  STANDIN_ENTER("cuEventCreate");
  *event = new CuEventObject;
  ++state().counts.events;
  return kCuSuccess;
}
CuResult cuEventDestroy_v2(CuEvent event) {
  STANDIN_ENTER("cuEventDestroy");
  delete event;
  --state().counts.events;
  return kCuSuccess;
}
CuResult cuEventRecord(CuEvent event, CuStream) {
  STANDIN_ENTER("cuEventRecord");
  using std::chrono::steady_clock;
  event->when_ms =
      std::chrono::duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
  return kCuSuccess;
}
CuResult cuEventSynchronize(CuEvent) {
  STANDIN_ENTER("cuEventSynchronize");
  return kCuSuccess;
}
CuResult cuEventElapsedTime(float* ms, CuEvent from, CuEvent to) {
  STANDIN_ENTER("cuEventElapsedTime");
  *ms = static_cast<float>(to->when_ms - from->when_ms);
  return kCuSuccess;
}

CuResult cuStreamBeginCapture_v2(CuStream stream, CuCaptureMode) {
  STANDIN_ENTER("cuStreamBeginCapture");
  if (stream->capture != nullptr) return kCuCaptureInvalidated;
  stream->capture = std::make_unique<CuGraphObject>();
  stream->last = nullptr;
  stream->is_broken = false;
  return kCuSuccess;
}
CuResult cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  *graph = nullptr;
  const std::scoped_lock lock(state().mutex);
  std::unique_ptr<CuGraphObject> captured = std::move(stream->capture);
  if (const CuResult wanted = standin::fault("cuStreamEndCapture"); wanted != kCuSuccess)
    return wanted;
  if (stream->is_broken || captured == nullptr) return kCuCaptureInvalidated;
  *graph = captured.release();
  ++state().counts.graphs;
  ++state().counts.captures;
  return kCuSuccess;
}
CuResult cuThreadExchangeStreamCaptureMode(CuCaptureMode*) {
  STANDIN_ENTER("cuThreadExchangeStreamCaptureMode");
  return kCuSuccess;
}
CuResult cuStreamIsCapturing(CuStream stream, CuCaptureStatus* status) {
  STANDIN_ENTER("cuStreamIsCapturing");
  *status = stream == nullptr || stream->capture == nullptr ? kCuNotCapturing
            : stream->is_broken                             ? kCuCaptureBroken
                                                            : kCuCapturing;
  return kCuSuccess;
}
CuResult cuStreamGetCaptureInfo_v3(CuStream stream, CuCaptureStatus* status, uint64_t* id,
                                   CuGraph* graph, const CuGraphNode** nodes,
                                   const CuGraphEdge** edges, size_t* count) {
  STANDIN_ENTER("cuStreamGetCaptureInfo");
  cuStreamIsCapturing(stream, status);
  if (id != nullptr) *id = 1;
  if (graph != nullptr) *graph = stream->capture.get();
  static const CuGraphEdge plain{};
  if (edges != nullptr) *edges = &plain;
  if (nodes != nullptr) *nodes = &stream->last;
  if (count != nullptr) *count = stream->last == nullptr ? 0 : 1;
  return kCuSuccess;
}
}
