// Running in C++: named data, the request to load, one execution.
#pragma once

#include <backplane/host.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace backplane::sdk {

// A datum, held until destroyed.
class Datum {
 public:
  Datum(Host host, bp_source_t* source, const bp_blob_t& blob)
      : host_(host), source_(source), blob_(blob) {}
  Datum(Datum&& other) noexcept
      : host_(other.host_), source_(std::exchange(other.source_, nullptr)), blob_(other.blob_) {}
  Datum& operator=(Datum&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(source_, other.source_);
    std::swap(blob_, other.blob_);
    return *this;
  }
  ~Datum() {
    if (source_ != nullptr && BP_HAS(host_.table(), data_release))
      host_.table()->data_release(source_, &blob_);
  }
  [[nodiscard]] const bp_blob_t& blob() const { return blob_; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(blob_.ptr), blob_.size};
  }

 private:
  Host host_;
  bp_source_t* source_;
  bp_blob_t blob_;
};

// Named data of a program; to be kept as long as the program, and no Datum longer. [any thread]
class Data {
 public:
  Data(Host host, bp_source_t* source) : host_(host), source_(source) {}
  [[nodiscard]] Result<Datum> get(std::string_view key) const {
    bp_blob_t blob{};
    if (!BP_HAS(host_.table(), data_get)) return host_lacks("data_get");
    BP_TRY(answer(host_.table()->data_get(source_, text(key), &blob)));
    return Datum(host_, source_, blob);
  }

 private:
  Host host_;
  bp_source_t* source_;
};

// One execution. [inside the call]
class Run {
 public:
  Run(Host host, const bp_run_t& run) : host_(host), run_(&run) {}
  [[nodiscard]] const bp_run_t& raw() const { return *run_; }
  [[nodiscard]] std::span<const bp_tensor_t> inputs() const {
    return {run_->inputs, run_->num_inputs};
  }
  [[nodiscard]] std::span<bp_tensor_t> outputs() const {
    return {run_->outputs, run_->num_outputs};
  }
  // Gives output `index` its shape, before it is written; data and strides may change.
  Status resize(uint32_t index, std::span<const int64_t> shape) const {
    return answer(host_.table()->resize_output(run_->ctx, index,
                                               static_cast<uint32_t>(shape.size()), shape.data()));
  }
  [[nodiscard]] bool cancelled() const { return bp_cancelled(run_->cancel) != 0; }

 private:
  Host host_;
  const bp_run_t* run_;
};

// The request of `load`. The struct is valid during the call; the payload and `data` until
// `unload`.
struct LoadRequest {
  const bp_load_t& raw;  // delegate id, method, device, threads
  std::span<const std::byte> payload;
  Data data;
  Options specs;    // as the file has them
  Options options;  // of phase LOAD

  LoadRequest(Host host, const bp_load_t& request)
      : raw(request),
        payload(static_cast<const std::byte*>(request.payload.ptr), request.payload.size),
        data(host, request.source),
        specs(request.specs),
        options(request.options) {}
  [[nodiscard]] bool cancelled() const { return bp_cancelled(raw.cancel) != 0; }
};

}  // namespace backplane::sdk
