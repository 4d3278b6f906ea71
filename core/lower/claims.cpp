#include "lower/claims.hpp"

#include <algorithm>
#include <map>

#include "lower/abi_graph.hpp"
#include "lower/emit.hpp"
#include "lower/partition.hpp"

namespace backplane::lower {
namespace {

// The claims and refusals of all backends, by graph of the module.
struct Collected {
  struct Graphs {
    std::vector<Claim> claims;
    std::vector<std::string> reasons;  // by node
  };
  std::vector<Graphs> graphs;
  // Nodes of different tags never share a partition: each (backend, tag) counts as one of its own.
  std::map<std::pair<size_t, std::string>, int32_t> colours;
  std::vector<std::pair<size_t, std::string>> colour_names;

  int32_t colour(size_t backend, std::string tag) {
    const auto [at, added] =
        colours.try_emplace({backend, tag}, static_cast<int32_t>(colour_names.size()));
    if (added) colour_names.emplace_back(backend, std::move(tag));
    return at->second;
  }
};

class ClaimSink final : public SinkHandler {
 public:
  ClaimSink(const Module& module, const AbiGraph& graph, size_t backend, Collected& out)
      : module_(module), graph_(graph), backend_(backend), out_(out) {}

  Status claim(const bp_claim_t& claim) override {
    const int32_t g = graph_.module_graph(claim.graph);
    if (g < 0)
      return invalid("claims nodes of graph " + std::to_string(claim.graph) +
                     ", which is not there");
    const auto num_nodes =
        static_cast<int32_t>(module_.graphs[static_cast<size_t>(g)]->nodes.size());
    Claim made{out_.colour(backend_, std::string(to_view(claim.tag))), {}, true, false};
    for (uint32_t i = 0; i < claim.num_nodes; ++i) {
      const int32_t node = claim.nodes[i];
      if (node < 0 || node >= num_nodes)
        return invalid("claims node " + std::to_string(node) + ", which is not there");
      made.nodes.push_back(node);
    }
    std::sort(made.nodes.begin(), made.nodes.end());
    made.nodes.erase(std::unique(made.nodes.begin(), made.nodes.end()), made.nodes.end());
    if (made.nodes.empty()) return Ok{};
    made.whole = (claim.flags & BP_CLAIM_EACH) == 0;
    made.may_split = (claim.flags & BP_CLAIM_MAY_SPLIT) != 0;
    out_.graphs[static_cast<size_t>(g)].claims.push_back(std::move(made));
    return Ok{};
  }

  Status refuse(int32_t graph, int32_t node, std::string_view reason) override {
    const int32_t g = graph_.module_graph(graph);
    if (g < 0) return Ok{};
    auto& reasons = out_.graphs[static_cast<size_t>(g)].reasons;
    if (node >= 0 && static_cast<size_t>(node) < reasons.size())
      reasons[static_cast<size_t>(node)] = reason;
    return Ok{};
  }

  Status emit(const bp_emit_t&) override { return invalid("emits while partitioning"); }

 private:
  static Status invalid(const std::string& what) { return Error{Code::invalid_argument, what}; }
  const Module& module_;
  const AbiGraph& graph_;
  size_t backend_;
  Collected& out_;
};

std::vector<std::vector<uint32_t>> node_flags(const ClaimRequest& request,
                                              const Collected& collected) {
  std::vector<std::vector<uint32_t>> flags;
  for (size_t g = 0; g < request.module.graphs.size(); ++g) {
    const Graph& graph = *request.module.graphs[g];
    flags.emplace_back(graph.nodes.size(), 0);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const std::string name = runtime_operator(request.ops, graph.nodes[n]);
      if (request.kernels.find(name) != nullptr) flags[g][n] |= BP_NODE_HAS_KERNEL;
    }
    for (const Claim& claim : collected.graphs[g].claims) {
      for (const int32_t node : claim.nodes) flags[g][static_cast<size_t>(node)] |= BP_NODE_TAKEN;
    }
  }
  return flags;
}

Status ask(const ClaimRequest& request, size_t backend, Collected& collected) {
  BackendUse& use = request.uses[backend];
  const auto flags = node_flags(request, collected);
  const AbiGraph graph(request.module, request.data, request.state, flags);
  ClaimSink sink(request.module, graph, backend, collected);
  const OptionViews options(use.options);
  bp_lower_t lower{};
  lower.struct_size = sizeof(lower);
  lower.graph = graph.get();
  lower.options = options.get();
  lower.method = to_abi(request.module.root().name);
  lower.target = to_abi(use.target_device);
  lower.data_placement = use.placement;
  lower.num_threads = 1;
  lower.cancel = request.cancel;
  lower.sink = to_abi(sink);
  return use.backend->partition(lower);
}

Dag dag_of(const Graph& graph) {
  std::vector<std::pair<int32_t, int32_t>> edges;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const NamedArgument& arg : graph.nodes[n].args) {
      for_each_value(arg.value, [&](ValueId id) {
        const NodeId from = graph.value(id).producer;
        if (from != kNone) edges.emplace_back(from, static_cast<int32_t>(n));
      });
    }
  }
  return Dag(static_cast<int32_t>(graph.nodes.size()), edges);
}

std::string refusal_text(const Graph& graph, const Refusal& refusal) {
  if (refusal.reason == Refusal::Reason::taken) return "an earlier backend has it";
  std::string text = "its group can't stay together: a path leaves it";
  if (refusal.through >= 0)
    text += " through '" + graph.nodes[static_cast<size_t>(refusal.through)].name + "'";
  return text + " and comes back";
}

}  // namespace

Result<std::vector<Settled>> settle(const ClaimRequest& request) {
  Collected collected;
  for (const auto& graph : request.module.graphs) {
    collected.graphs.push_back({{}, std::vector<std::string>(graph->nodes.size())});
  }
  for (size_t b = 0; b < request.uses.size(); ++b) BP_TRY(ask(request, b, collected));
  std::vector<Settled> settled;
  for (size_t g = 0; g < request.module.graphs.size(); ++g) {
    const Graph& graph = *request.module.graphs[g];
    Partitioning parts = partition(dag_of(graph), collected.graphs[g].claims);
    Settled out;
    out.order = std::move(parts.order);
    out.partition_of = std::move(parts.partition_of);
    out.reasons = std::move(collected.graphs[g].reasons);
    for (Partition& p : parts.partitions) {
      const auto& [backend, tag] = collected.colour_names[static_cast<size_t>(p.backend)];
      out.partitions.push_back({backend, tag, std::move(p.nodes)});
    }
    for (const Refusal& refusal : parts.refusals) {
      for (const int32_t node : collected.graphs[g].claims[refusal.claim].nodes) {
        if (out.partition_of[static_cast<size_t>(node)] < 0 || refusal.split) {
          out.reasons[static_cast<size_t>(node)] = refusal_text(graph, refusal);
        }
      }
    }
    settled.push_back(std::move(out));
  }
  return settled;
}

std::vector<std::string> explain(const Module& module, const std::vector<Settled>& settled,
                                 const std::vector<BackendUse>& uses, const KernelIndex& kernels,
                                 const ops::Table& ops) {
  std::vector<std::string> lines;
  for (size_t g = 0; g < module.graphs.size(); ++g) {
    const Graph& graph = *module.graphs[g];
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      std::string line = graph.name + ": " + describe(node) + ": ";
      const int32_t p = settled[g].partition_of[n];
      const std::string& reason = settled[g].reasons[n];
      if (p >= 0) {
        const PartitionOf& part = settled[g].partitions[static_cast<size_t>(p)];
        line += uses[part.backend].backend->plugin().name + ", partition " + std::to_string(p);
        if (!reason.empty()) line += " (" + reason + ")";
      } else {
        const KernelEntry* kernel = kernels.find(runtime_operator(ops, node));
        line += kernel != nullptr ? "kernel of " + kernel->plugin->name : "runtime";
        if (!reason.empty()) line += " (not a backend's: " + reason + ")";
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace backplane::lower
