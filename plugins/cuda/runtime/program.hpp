// A loaded payload: its code on the device, its weights, what its setup made of them. Immutable,
// shared by instances.
#pragma once

#include <backplane/execution.hpp>
#include <backplane/result.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/payload.hpp"
#include "cuda/runtime/devices.hpp"
#include "cuda/runtime/modules.hpp"

namespace backplane::cuda {

class Instance;

class Program {
 public:
  // invalid_argument, incompatible: the payload. unavailable: no driver, or a library that it
  // needs.
  static Result<std::unique_ptr<Program>> load(sdk::Host host, Libraries& libraries,
                                               Devices& devices, const sdk::LoadRequest& request);
  Result<std::unique_ptr<Instance>> instance(const bp_instance_args_t& args);

  [[nodiscard]] const sdk::Host& host() const { return host_; }
  [[nodiscard]] const PlanView& plan() const { return plan_; }
  [[nodiscard]] const Device& device() const { return *in_use_.device; }
  [[nodiscard]] Libraries& libraries() { return libraries_; }
  [[nodiscard]] Modules& modules() { return *modules_; }
  // By buffer: where weights and derived buffers lie, 0 for others.
  [[nodiscard]] std::span<const CuAddress> addresses() const { return addresses_; }
  [[nodiscard]] std::string name() const;  // "'forward'", for messages
  // Whether kernels may report faults.
  [[nodiscard]] bool may_fault() const { return may_fault_; }

 private:
  Program(sdk::Host host, Libraries& libraries, const Devices::InUse& in_use, const PlanView& plan)
      : host_(host), libraries_(libraries), in_use_(in_use), plan_(plan) {}
  Status check_outputs() const;
  Status bring_weights(const sdk::Data& data);
  Result<WeightRequest> request_for(const Buffer& buffer, const sdk::Data& data,
                                    std::vector<sdk::Datum>& held) const;
  Status derive();

  sdk::Host host_;
  Libraries& libraries_;
  const Devices::InUse& in_use_;
  PlanView plan_;
  std::unique_ptr<Modules> modules_;
  std::vector<Weight> weights_;
  DeviceBuffer derived_;
  std::vector<CuAddress> addresses_;
  std::vector<int64_t> constants_;  // sizes that depend on no input; 0 for others
  bool may_fault_ = false;
};

}  // namespace backplane::cuda
