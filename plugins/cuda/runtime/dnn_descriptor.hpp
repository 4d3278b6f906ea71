// An owned descriptor of cuDNN's backend interface, and its attributes by type.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "cuda/driver/cudnn.hpp"

namespace backplane::cuda {

// Collects the first failure: check `status` once at the end.
class DnnObject {
 public:
  DnnObject() = default;
  DnnObject(const Cudnn& library, DnnKind kind) : library_(&library) {
    status_ = library.descriptor_create(kind, &descriptor_);
  }
  DnnObject(DnnObject&& other) noexcept { swap(other); }
  DnnObject& operator=(DnnObject&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DnnObject() {
    if (descriptor_ != nullptr) library_->descriptor_destroy(descriptor_);
  }

  DnnObject& set(DnnAttribute attribute, DnnAttributeType type, int64_t count, const void* values) {
    if (status_ == kDnnSuccess)
      status_ = library_->set(descriptor_, attribute, type, count, values);
    return *this;
  }
  DnnObject& set(DnnAttribute attribute, int64_t value) {
    return set(attribute, kDnnTypeInt64, 1, &value);
  }
  DnnObject& set(DnnAttribute attribute, std::span<const int64_t> values) {
    return set(attribute, kDnnTypeInt64, static_cast<int64_t>(values.size()), values.data());
  }
  DnnObject& set(DnnAttribute attribute, DnnData type) {
    return set(attribute, kDnnTypeDataType, 1, &type);
  }
  DnnObject& set(DnnAttribute attribute, bool value) {
    return set(attribute, kDnnTypeBool, 1, &value);
  }
  DnnObject& set(DnnAttribute attribute, const DnnObject& object) {
    return set(attribute, kDnnTypeDescriptor, 1, &object.descriptor_);
  }
  DnnStatus finalize() {
    if (status_ == kDnnSuccess) status_ = library_->descriptor_finalize(descriptor_);
    return status_;
  }
  [[nodiscard]] DnnStatus status() const { return status_; }
  [[nodiscard]] DnnDescriptor get() const { return descriptor_; }

 private:
  void swap(DnnObject& other) {
    std::swap(library_, other.library_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(status_, other.status_);
  }
  const Cudnn* library_ = nullptr;
  DnnDescriptor descriptor_ = nullptr;
  DnnStatus status_ = kDnnSuccess;
};

}  // namespace backplane::cuda
