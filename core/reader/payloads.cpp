#include "reader/payloads.hpp"

#include <algorithm>
#include <utility>

#include "reader/tensor_view.hpp"
#include "reader/torch_save.hpp"

namespace backplane {

using Bytes = std::span<const std::byte>;
using JsonValue = json::Value;

Result<Payloads> Payloads::open(Archive& archive, const PayloadNames& names, ReadContext& context) {
  Payloads payloads(archive, context);
  for (const std::string* config : {&names.config, &names.old_config}) {
    if (const ArchiveEntry* entry = archive.find(*config)) {
      Status status = payloads.read_config(*entry, names.folder);
      if (!status.ok()) return std::move(status).error().in(*config);
      return payloads;
    }
  }
  // An empty entry is a model without any.
  const ArchiveEntry* entry = archive.find(names.saved);
  if (entry != nullptr && entry->size_bytes != 0) payloads.read_saved(*entry);
  return payloads;
}

Status Payloads::read_config(const ArchiveEntry& entry, const std::string& folder) {
  json::Document document;
  BP_TRY(document.open(*archive_, entry, context_->module.buffers));
  return document.for_each_field([&](std::string_view key, JsonValue& config) -> Status {
    if (key != "config") return Ok{};
    return json::for_each_field(config, [&](std::string_view escaped, JsonValue& value) -> Status {
      BP_ASSIGN_OR_RETURN(std::string name, json::unescape(escaped));
      Raw raw;
      Status status = read_raw(value, folder, raw);
      if (!status.ok()) return std::move(status).error().in("'" + name + "'");
      raw_.emplace(std::move(name), std::move(raw));
      return Ok{};
    });
  });
}

Status Payloads::read_raw(JsonValue& object, const std::string& folder, Raw& raw) {
  return json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "path_name") {
      BP_ASSIGN_OR_RETURN(const std::string_view path,
                          json::read_text(value, context_->module.strings));
      raw.entry = folder + std::string(path);
    } else if (key == "is_param") {
      BP_ASSIGN_OR_RETURN(raw.is_parameter, json::read_bool(value));
    } else if (key == "use_pickle") {
      BP_ASSIGN_OR_RETURN(raw.is_pickle, json::read_bool(value));
    } else if (key == "tensor_meta" && !json::is_null(value)) {
      raw.has_meta = true;
      BP_ASSIGN_OR_RETURN(raw.meta, read_tensor_meta(value, *context_));
    }
    return Ok{};
  });
}

void Payloads::read_saved(const ArchiveEntry& entry) {
  const auto read = [&]() -> Status {
    Buffers& buffers = context_->module.buffers;
    BP_ASSIGN_OR_RETURN(const Bytes bytes, archive_->read(entry, buffers));
    BP_ASSIGN_OR_RETURN(std::vector<Constant> tensors, read_torch_save(bytes, buffers));
    for (Constant& tensor : tensors) saved_.emplace(tensor.fqn, std::move(tensor));
    return Ok{};
  };
  Status status = read();
  if (!status.ok()) error_ = std::move(status).error().in(entry.name);
}

bool Payloads::contains(std::string_view name) const {
  const std::string key(name);
  return raw_.contains(key) || saved_.contains(key);
}

Result<Constant> Payloads::find(std::string_view name) {
  const std::string key(name);
  if (const auto raw = raw_.find(key); raw != raw_.end()) return make(raw->second, name);
  if (const auto saved = saved_.find(key); saved != saved_.end()) return saved->second;
  if (error_) return *error_;
  return Error{Code::not_found, "it is not in the file"};
}

Result<Constant> Payloads::make(const Raw& raw, std::string_view name) {
  if (raw.is_pickle || !raw.has_meta) {
    return Error{Code::unsupported,
                 "it is stored as a Python object; only plain tensors can be read"};
  }
  if (!raw.meta.fault.empty()) return Error{Code::unsupported, "it " + raw.meta.fault};
  Constant constant;
  constant.fqn = std::string(name);
  constant.dtype = raw.meta.type.dtype;
  constant.is_parameter = raw.is_parameter;
  const auto literal = [](SymInt value, int64_t& out) {
    out = value.is_constant() ? value.constant() : -1;
    return value.is_constant();
  };
  bool known = literal(raw.meta.storage_offset, constant.storage_offset);
  for (const SymInt size : raw.meta.type.sizes) {
    known &= literal(size, constant.sizes.emplace_back());
  }
  for (const SymInt stride : raw.meta.type.strides) {
    known &= literal(stride, constant.strides.emplace_back());
  }
  if (!known) return Error{Code::invalid_argument, "it has sizes that are not numbers"};
  BP_ASSIGN_OR_RETURN(constant.storage, storage(raw.entry));
  if (constant.storage.empty() &&
      std::find(constant.sizes.begin(), constant.sizes.end(), 0) == constant.sizes.end()) {
    return Error{Code::unsupported,
                 "it has no data: the program was exported without real weights"};
  }
  BP_TRY(check_view(constant));
  return constant;
}

Result<Bytes> Payloads::storage(const std::string& name) {
  if (const auto known = storages_.find(name); known != storages_.end()) return known->second;
  const ArchiveEntry* entry = archive_->find(name);
  if (entry == nullptr) {
    return Error{Code::invalid_argument, "its data '" + name + "' is missing"};
  }
  Buffers& buffers = context_->module.buffers;
  BP_ASSIGN_OR_RETURN(const Bytes bytes, archive_->read(*entry, buffers));
  return storages_.emplace(name, aligned(bytes, buffers)).first->second;
}

}  // namespace backplane
