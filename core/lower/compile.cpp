#include "lower/compile.hpp"

#include <algorithm>
#include <cstring>

#include "lower/abi_graph.hpp"
#include "runtime/delegate_io.hpp"

namespace backplane::lower {
namespace {

// Takes what one compile emits.
class EmitSink final : public SinkHandler {
 public:
  EmitSink(const CompileRequest& request, const BackendUse& use, const GraphPart& part,
           const AbiGraph& graph)
      : request_(request), use_(use), part_(part), graph_(graph) {
    placements.assign(part.inputs.size() + part.outputs.size(), kDefault);
  }

  static constexpr uint8_t kDefault = 255;

  Status claim(const bp_claim_t&) override { return invalid("claims while compiling"); }
  Status refuse(int32_t, int32_t, std::string_view) override { return Ok{}; }

  Status emit(const bp_emit_t& emitted) override {
    switch (emitted.kind) {
      case BP_EMIT_PAYLOAD:
        append(payload, emitted);
        payload_align = std::max(payload_align, emitted.align);
        return Ok{};
      case BP_EMIT_DATUM:
        return datum(emitted);
      case BP_EMIT_PLACEMENT:
        return place(emitted);
      case BP_EMIT_FINGERPRINT:
        fingerprint.assign(static_cast<const char*>(emitted.ptr), emitted.size);
        return Ok{};
      case BP_EMIT_DESCRIPTION:
        description.append(static_cast<const char*>(emitted.ptr), emitted.size);
        return Ok{};
      default:
        return Ok{};  // of a later minor: advice that this host does not know
    }
  }

  std::vector<std::byte> payload;
  uint64_t payload_align = 16;
  std::vector<uint8_t> placements;  // inputs, then outputs
  std::string fingerprint;
  std::string description;

 private:
  static Status invalid(const std::string& what) { return Error{Code::invalid_argument, what}; }

  static void append(std::vector<std::byte>& to, const bp_emit_t& emitted) {
    const auto* from = static_cast<const std::byte*>(emitted.ptr);
    to.insert(to.end(), from, from + emitted.size);
  }

  Status datum(const bp_emit_t& emitted) {
    DataSet& data = use_.placement == BP_DATA_INLINE ? request_.inlined : request_.external;
    const uint64_t align = emitted.align == 0 ? 16 : emitted.align;
    if ((align & (align - 1)) != 0 || align > kMaxAlignment) {
      return invalid("emits a datum aligned to " + std::to_string(align) +
                     ": must be a power of two up to " + std::to_string(kMaxAlignment));
    }
    if (emitted.value < 0) {
      if (emitted.key.len == 0) return invalid("emits a datum without a key");
      auto& blob = request_.compiled.blobs.emplace_back();
      append(blob, emitted);
      return data.add_blob(to_view(emitted.key), blob, static_cast<uint32_t>(align));
    }
    const auto ids = graph_.value_ids();
    if (static_cast<size_t>(emitted.value) >= ids.size()) {
      return invalid("emits value " + std::to_string(emitted.value) + ", which is not there");
    }
    Module& module = request_.module;
    const Value& value = module.graphs[static_cast<size_t>(part_.graph)]->value(
        ids[static_cast<size_t>(emitted.value)]);
    if (value.constant == kNone)
      return invalid("emits value '" + value.name + "', which is no constant");
    const Constant& constant = module.constants[static_cast<size_t>(value.constant)];
    data.add(constant, module.buffers);
    const std::string key = data.key_of(constant, module.buffers);
    if (emitted.key.len == 0 || to_view(emitted.key) == key) {
      data.use(constant, module.buffers);
      return Ok{};
    }
    return data.add_blob(to_view(emitted.key), dense_bytes(constant, module.buffers),
                         static_cast<uint32_t>(align));
  }

  Status place(const bp_emit_t& emitted) {
    const auto ids = graph_.value_ids();
    if (emitted.value < 0 || static_cast<size_t>(emitted.value) >= ids.size()) {
      return invalid("places value " + std::to_string(emitted.value) + ", which is not there");
    }
    const ValueId id = ids[static_cast<size_t>(emitted.value)];
    for (size_t i = 0; i < placements.size(); ++i) {
      const bool input = i < part_.inputs.size();
      const ValueId slot = input ? part_.inputs[i] : part_.outputs[i - part_.inputs.size()];
      if (slot == id) placements[i] = emitted.placement == BP_PLACE_DEVICE ? 1 : 0;
    }
    return Ok{};
  }

  const CompileRequest& request_;
  const BackendUse& use_;
  const GraphPart& part_;
  const AbiGraph& graph_;
};

std::vector<uint8_t> to_bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

runtime::DelegateIo io_of(const Module& module, const GraphPart& part,
                          const std::vector<uint8_t>& placements) {
  runtime::DelegateIo io{
      static_cast<uint32_t>(part.inputs.size()), static_cast<uint32_t>(part.outputs.size()), {}};
  const bool any = std::any_of(placements.begin(), placements.end(),
                               [](uint8_t p) { return p != EmitSink::kDefault; });
  if (!any) return io;
  const Graph& graph = *module.graphs[static_cast<size_t>(part.graph)];
  for (size_t i = 0; i < placements.size(); ++i) {
    const ValueId id =
        i < part.inputs.size() ? part.inputs[i] : part.outputs[i - part.inputs.size()];
    const bool tensor = graph.value(id).kind == ValueKind::tensor;
    io.on_device.push_back(placements[i] == EmitSink::kDefault ? (tensor ? 1 : 0) : placements[i]);
  }
  return io;
}

Result<DelegateSite> compile_one(const CompileRequest& request, int32_t g,
                                 const PartitionOf& partition) {
  BackendUse& use = request.uses[partition.backend];
  const GraphPart part = make_part(request.module, request.state, g, partition.nodes);
  const AbiGraph graph(request.module, request.external, request.state, part);
  EmitSink sink(request, use, part, graph);
  const OptionViews options(use.options);
  bp_lower_t lower{};
  lower.struct_size = sizeof(lower);
  lower.graph = graph.get();
  lower.options = options.get();
  lower.method = to_abi(request.module.root().name);
  lower.target = to_abi(use.target_device);
  if (use.placement == BP_DATA_EXTERNAL) lower.data_name = to_abi(request.data_name);
  lower.data_placement = use.placement;
  lower.num_threads = request.num_threads;
  lower.cancel = request.cancel;
  lower.sink = to_abi(sink);
  if (auto status = use.backend->compile(lower); !status.ok()) {
    const Node& first =
        request.module.graphs[static_cast<size_t>(g)]->nodes[static_cast<size_t>(part.nodes[0])];
    Error error = std::move(status).error();
    error.message += ", compiling the partition that begins with " + describe(first);
    return error;
  }
  if (request.descriptions != nullptr && !sink.description.empty()) {
    request.descriptions->push_back(std::move(sink.description));
  }
  DelegateSite site;
  site.inputs = part.inputs;
  site.outputs = part.outputs;
  site.delegate.id = "backplane." + use.backend->plugin().name;
  for (const auto& [key, value] : use.options)
    site.delegate.compile_specs.push_back({key, to_bytes(value)});
  site.delegate.compile_specs.push_back({"method_name", to_bytes(request.module.root().name)});
  if (!use.target_device.empty())
    site.delegate.compile_specs.push_back({"target_device", to_bytes(use.target_device)});
  site.delegate.compile_specs.push_back(
      {std::string(runtime::kDelegateIoKey), encode(io_of(request.module, part, sink.placements))});
  if (!sink.fingerprint.empty())
    site.delegate.compile_specs.push_back({"bp.fingerprint", to_bytes(sink.fingerprint)});
  request.compiled.blobs.push_back(std::move(sink.payload));
  site.delegate.payload = request.compiled.blobs.back();
  return site;
}

}  // namespace

Result<std::vector<GraphSchedule>> compile(const CompileRequest& request) {
  std::vector<GraphSchedule> schedules;
  for (size_t g = 0; g < request.settled.size(); ++g) {
    GraphSchedule schedule;
    schedule.order = request.settled[g].order;
    for (const PartitionOf& partition : request.settled[g].partitions) {
      BP_ASSIGN_OR_RETURN(DelegateSite site,
                          compile_one(request, static_cast<int32_t>(g), partition));
      schedule.delegates.push_back(std::move(site));
    }
    schedules.push_back(std::move(schedule));
  }
  return schedules;
}

}  // namespace backplane::lower
