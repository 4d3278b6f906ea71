#include "cuda/runtime/modules.hpp"

#include <algorithm>

namespace backplane::cuda {
namespace {

constexpr unsigned kSharedForAll = 48U << 10U;  // that no kernel has to ask for

bool fits(const Image& image, uint32_t capability) {
  if (image.kind == ImageKind::ptx) return image.capability <= capability;
  if (image.is_exact != 0) return image.capability == capability;
  return image.capability / 10 == capability / 10 && image.capability <= capability;
}

std::string targets_of(const PlanView& plan, std::span<const Image> images) {
  std::string list;
  for (const Image& image : images)
    list += (list.empty() ? "" : ", ") + std::string(text_of(plan, image.target));
  return list;
}

std::string name_of(const Device& device) {
  return device.facts().name + " (sm_" + std::to_string(device.facts().arch) + ")";
}

}  // namespace

const Image* choose_image(std::span<const Image> images, int capability) {
  const auto at = std::find_if(images.begin(), images.end(), [&](const Image& image) {
    return fits(image, static_cast<uint32_t>(capability));
  });
  return at == images.end() ? nullptr : &*at;
}

Result<std::unique_ptr<Modules>> Modules::load(const PlanView& plan, const Device& device,
                                               const sdk::Host& host) {
  std::unique_ptr<Modules> modules(new Modules(device));
  const Current current(device);
  for (const Module& module : plan.modules) BP_TRY(modules->load_module(plan, module, host));
  BP_TRY(modules->find_kernels(plan));
  return modules;
}

Modules::~Modules() {
  const Current current(device_);
  for (const CuLibrary library : libraries_) device_.driver().library_unload(library);
}

Status Modules::load_module(const PlanView& plan, const Module& module, const sdk::Host& host) {
  const auto images = plan.images.subspan(module.images.first, module.images.count);
  const Image* image = choose_image(images, device_.facts().arch);
  const std::string arch = "sm_" + std::to_string(device_.facts().arch);
  if (image == nullptr) {
    return Error{Code::incompatible, "the program has code for " + targets_of(plan, images) +
                                         ", and none that runs on " + name_of(device_) +
                                         "; lower it again with gpu_arch=" + arch};
  }
  if (image->kind == ImageKind::ptx) {
    host.log(BP_LOG_INFO, "the program has no code for " + name_of(device_) +
                              ": the driver compiles its " +
                              std::string(text_of(plan, image->target)) +
                              " code now; gpu_arch=" + arch + " when lowering saves that");
  }
  CuLibrary library = nullptr;
  const CuResult result = device_.driver().library_load_data(
      &library, plan.bytes.data() + image->bytes.first, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result != kCuSuccess) {
    const int version = device_.driver().version;
    return device_.driver()
        .check(result, "the driver (for CUDA " + std::to_string(version / 1000) + "." +
                           std::to_string(version % 1000 / 10) + ") does not take the " +
                           std::string(text_of(plan, image->target)) + " code made by " +
                           std::string(text_of(plan, plan.summary[0].compiler)))
        .error();
  }
  libraries_.push_back(library);
  return Ok{};
}

Status Modules::find_kernels(const PlanView& plan) {
  const Driver& driver = device_.driver();
  for (const Kernel& kernel : plan.kernels) {
    const std::string name(text_of(plan, kernel.name));
    CuKernel found = nullptr;
    CuFunction function = nullptr;
    CuResult result = driver.library_get_kernel(&found, libraries_[kernel.module], name.c_str());
    if (result == kCuSuccess) result = driver.kernel_get_function(&function, found);
    BP_TRY(driver.check(result, "kernel '" + name + "' of the program"));
    functions_.push_back(function);
    shared_bytes_.push_back(kSharedForAll);
  }
  return Ok{};
}

Status Modules::allow_shared(uint32_t kernel, unsigned bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes <= shared_bytes_[kernel]) return Ok{};
  const Current current(device_);
  BP_TRY(device_.driver().check(
      device_.driver().func_set_attribute(functions_[kernel], kCuDynamicSharedMemory,
                                          static_cast<int>(bytes)),
      std::to_string(bytes) + " bytes of shared memory"));
  shared_bytes_[kernel] = bytes;
  return Ok{};
}

}  // namespace backplane::cuda
