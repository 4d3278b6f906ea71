#include "cuda/runtime/convolution.hpp"

#include <algorithm>
#include <array>

#include "cuda/runtime/convolution_graph.hpp"

namespace backplane::cuda {
namespace {

constexpr int64_t kMostConfigs = 64;

template <class Note>
bool has_note(const Cudnn& library, DnnDescriptor engine, DnnAttribute attribute,
              DnnAttributeType type, std::initializer_list<Note> wanted) {
  std::array<Note, 16> notes{};
  int64_t count = 0;
  if (library.get(engine, attribute, type, notes.size(), &count, notes.data()) != kDnnSuccess)
    return false;
  const auto end = notes.begin() + std::min<int64_t>(count, notes.size());
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](Note note) { return std::find(notes.begin(), end, note) != end; });
}

// What an engine must not do to give what was asked for.
bool is_precise(const Cudnn& library, DnnDescriptor engine, const BoundOperand& x,
                Compute compute) {
  const auto notes = [&](std::initializer_list<DnnNumericalNote> wanted) {
    return has_note(library, engine, kDnnEngineNumericalNote, kDnnTypeNumericalNote, wanted);
  };
  const bool is_f32 = x.dtype.code == BP_DT_FLOAT && x.dtype.bits == 32;
  if (is_f32 && compute == Compute::f32) return !notes({kDnnTensorCore, kDnnDownConvertsInputs});
  return compute == Compute::f16 || !notes({kDnnReducedPrecision});
}

}  // namespace

Result<std::unique_ptr<ConvolutionRun>> ConvolutionRun::choose(const PlanView& plan,
                                                               std::span<const int64_t> sizes,
                                                               const Convolution& convolution,
                                                               LibraryHandles& handles) {
  BP_ASSIGN_OR_RETURN(const LibraryHandles::Dnn dnn, handles.cudnn());
  std::unique_ptr<ConvolutionRun> run(new ConvolutionRun(dnn));
  const ConvolutionOperands operands{
      bind(plan, sizes, convolution.x), bind(plan, sizes, convolution.w),
      bind(plan, sizes, convolution.y), bind(plan, sizes, convolution.bias),
      bind(plan, sizes, convolution.z)};
  run->operands_ = {operands.x, operands.w, operands.y, operands.bias, operands.z};
  for (uint32_t d = 0; d < operands.y.rank; ++d)
    run->is_nothing_ = run->is_nothing_ || operands.y.dims[d] == 0;
  if (run->is_nothing_) return run;
  BP_ASSIGN_OR_RETURN(ConvolutionGraph graph,
                      make_graph(*dnn.library, dnn.handle, convolution, operands));
  run->objects_ = std::move(graph.objects);
  run->graph_ = std::move(graph.graph);
  BP_TRY(run->find_engine(convolution));
  return run;
}

Status ConvolutionRun::find_engine(const Convolution& convolution) {
  const Cudnn& library = *dnn_.library;
  std::vector<DnnObject> configs;
  for (const DnnHeuristicKind mode : {kDnnModeA, kDnnFallback}) {
    DnnObject heuristic(library, kDnnHeuristic);
    heuristic.set(kDnnHeuristicGraph, graph_)
        .set(kDnnHeuristicMode, kDnnTypeHeuristicMode, 1, &mode);
    if (heuristic.finalize() != kDnnSuccess) continue;
    std::vector<DnnDescriptor> places;
    const size_t first = configs.size();
    for (int64_t i = 0; i < kMostConfigs; ++i)
      places.push_back(configs.emplace_back(library, kDnnEngineConfig).get());
    int64_t count = 0;
    if (library.get(heuristic.get(), kDnnHeuristicResults, kDnnTypeDescriptor, kMostConfigs, &count,
                    places.data()) != kDnnSuccess)
      count = 0;
    configs.resize(first + static_cast<size_t>(std::min(count, kMostConfigs)));
  }
  // Results that are the same each time are worth a slower engine.
  for (const bool must_be_same_again : {true, false}) {
    for (const DnnObject& config : configs) {
      if (try_config(config.get(), convolution, must_be_same_again)) return Ok{};
    }
  }
  return Error{Code::unsupported, "cuDNN has no engine for a convolution"};
}

bool ConvolutionRun::try_config(DnnDescriptor config, const Convolution& convolution,
                                bool must_be_same_again) {
  const Cudnn& library = *dnn_.library;
  DnnObject engine(library, kDnnEngine);
  DnnDescriptor place = engine.get();
  int64_t count = 0;
  if (library.get(config, kDnnConfigEngine, kDnnTypeDescriptor, 1, &count, &place) != kDnnSuccess)
    return false;
  if (has_note(library, place, kDnnEngineBehaviorNote, kDnnTypeBehaviorNote,
               {kDnnCompilesAtRunTime}))
    return false;
  if (must_be_same_again && has_note(library, place, kDnnEngineNumericalNote, kDnnTypeNumericalNote,
                                     {kDnnNondeterministic}))
    return false;
  if (!is_precise(library, place, operands_[0], convolution.compute)) return false;
  DnnObject plan(library, kDnnPlan);
  plan.set(kDnnPlanHandle, kDnnTypeHandle, 1, &dnn_.handle)
      .set(kDnnPlanConfig, kDnnTypeDescriptor, 1, &config);
  if (plan.finalize() != kDnnSuccess) return false;
  if (library.get(plan.get(), kDnnPlanWorkspace, kDnnTypeInt64, 1, &count, &workspace_bytes_) !=
      kDnnSuccess)
    return false;
  plan_ = std::move(plan);
  return true;
}

Status ConvolutionRun::enqueue(CuStream stream, std::span<const CuAddress> addresses,
                               CuAddress workspace) {
  if (is_nothing_) return Ok{};
  const Cudnn& library = *dnn_.library;
  std::array<int64_t, 5> ids{};
  std::array<void*, 5> pointers{};
  int64_t count = 0;
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i].is_there()) continue;
    ids[static_cast<size_t>(count)] = static_cast<int64_t>(i) + 1;
    pointers[static_cast<size_t>(count++)] = reinterpret_cast<void*>(operands_[i].in(addresses));
  }
  auto* scratch = reinterpret_cast<void*>(workspace);
  DnnObject pack(library, kDnnPack);
  pack.set(kDnnPackIds, kDnnTypeInt64, count, ids.data())
      .set(kDnnPackPointers, kDnnTypePointer, count, pointers.data())
      .set(kDnnPackWorkspace, kDnnTypePointer, 1, &scratch);
  BP_TRY(library.check(pack.finalize(), "the addresses of a convolution"));
  BP_TRY(library.check(library.set_stream(dnn_.handle, stream), "a convolution"));
  return library.check(library.execute(dnn_.handle, plan_.get(), pack.get()), "a convolution");
}

}  // namespace backplane::cuda
