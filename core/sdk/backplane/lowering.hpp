// Lowering in C++: what a plugin claims, and what it emits.
#pragma once

#include <backplane/graph.hpp>
#include <backplane/host.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace backplane::sdk {

// The request of `partition` and `compile`. Valid during the call.
struct LowerRequest {
  const bp_lower_t& raw;  // method, target, data name and placement, threads
  Graph graph;
  Options options;

  explicit LowerRequest(const bp_lower_t& request)
      : raw(request), graph(*request.graph), options(request.options) {}
  [[nodiscard]] bool cancelled() const { return bp_cancelled(raw.cancel) != 0; }
};

// Says what `partition` takes. [inside the call]
class Claims {
 public:
  Claims(Host host, bp_sink_t* sink) : host_(host), sink_(sink) {}

  // Each node alone.
  Status take(std::span<const int32_t> nodes, std::string_view tag = {}, int32_t graph = 0) const {
    return claim({.struct_size = sizeof(bp_claim_t),
                  .flags = BP_CLAIM_EACH,
                  .nodes = nodes.data(),
                  .num_nodes = static_cast<uint32_t>(nodes.size()),
                  .graph = graph,
                  .tag = text(tag),
                  .cost = 0});
  }
  // All of them in one partition, or none; or, if they may be split, each alone.
  Status take_group(std::span<const int32_t> nodes, bool may_split = false,
                    std::string_view tag = {}, int32_t graph = 0) const {
    return claim({.struct_size = sizeof(bp_claim_t),
                  .flags = may_split ? uint32_t{BP_CLAIM_MAY_SPLIT} : 0,
                  .nodes = nodes.data(),
                  .num_nodes = static_cast<uint32_t>(nodes.size()),
                  .graph = graph,
                  .tag = text(tag),
                  .cost = 0});
  }
  Status claim(const bp_claim_t& claim) const {
    if (!BP_HAS(host_.table(), claim)) return host_lacks("claim");
    return answer(host_.table()->claim(sink_, &claim));
  }
  // Why a node is not taken, for `lower --explain`.
  void refuse(int32_t node, std::string_view reason, int32_t graph = 0) const {
    if (BP_HAS(host_.table(), refuse)) host_.table()->refuse(sink_, graph, node, text(reason));
  }

 private:
  Host host_;
  bp_sink_t* sink_;
};

// Takes the results of `compile`. [inside the call]
class Emitter {
 public:
  Emitter(Host host, bp_sink_t* sink) : host_(host), sink_(sink) {}

  // Joined in the order of the calls.
  Status payload(std::span<const std::byte> bytes, uint64_t align = 16) const {
    return bytes_of(BP_EMIT_PAYLOAD, {}, bytes, align);
  }
  Status datum(std::string_view key, std::span<const std::byte> bytes, uint64_t align = 16) const {
    return bytes_of(BP_EMIT_DATUM, key, bytes, align);
  }
  // A constant of the graph as it is; data_get finds it under its bp_value_t.key.
  Status constant(int32_t value, uint64_t align = 16) const {
    return emit({.struct_size = sizeof(bp_emit_t),
                 .kind = BP_EMIT_DATUM,
                 .key = {},
                 .ptr = nullptr,
                 .size = 0,
                 .align = align,
                 .value = value,
                 .placement = 0});
  }
  // Where an input or output is wanted: BP_PLACE_*.
  Status place(int32_t value, uint32_t placement) const {
    return emit({.struct_size = sizeof(bp_emit_t),
                 .kind = BP_EMIT_PLACEMENT,
                 .key = {},
                 .ptr = nullptr,
                 .size = 0,
                 .align = 0,
                 .value = value,
                 .placement = placement});
  }
  Status fingerprint(std::string_view what) const {
    return bytes_of(BP_EMIT_FINGERPRINT, {}, std::as_bytes(std::span(what)), 1);
  }
  Status description(std::string_view what) const {
    return bytes_of(BP_EMIT_DESCRIPTION, {}, std::as_bytes(std::span(what)), 1);
  }

 private:
  Status bytes_of(uint32_t kind, std::string_view key, std::span<const std::byte> bytes,
                  uint64_t align) const {
    return emit({.struct_size = sizeof(bp_emit_t),
                 .kind = kind,
                 .key = text(key),
                 .ptr = bytes.data(),
                 .size = bytes.size(),
                 .align = align,
                 .value = -1,
                 .placement = 0});
  }
  Status emit(const bp_emit_t& result) const {
    if (!BP_HAS(host_.table(), emit)) return host_lacks("emit");
    return answer(host_.table()->emit(sink_, &result));
  }

  Host host_;
  bp_sink_t* sink_;
};

}  // namespace backplane::sdk
