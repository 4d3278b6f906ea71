// The weights of a model in an archive: by name, wherever its layout keeps them.
#pragma once

#include <backplane/result.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "reader/archive.hpp"
#include "reader/tensor_meta.hpp"

namespace backplane {

// Names of the entries that may hold the weights or the constants of a model, all but the folder's
// last part for raw storages.
struct PayloadNames {
  std::string folder;      // of raw storages: "ROOT/data/weights/"
  std::string config;      // JSON: what lies in the folder
  std::string old_config;  // the same under an older name
  std::string saved;       // a torch.save file with all of them
};

// The state dict, or the constants, of one model.
class Payloads {
 public:
  // Reads what there is, no weights yet. Both must outlive the object.
  // invalid_argument: the description is malformed.
  [[nodiscard]] static Result<Payloads> open(Archive& archive, const PayloadNames& names,
                                             ReadContext& context);

  [[nodiscard]] bool contains(std::string_view name) const;

  // The tensor `name`, a view that was checked; its storage is in the archive's bytes if it can be
  // used there, else in the module's buffers, once for all that share it.
  // not_found: there is none. invalid_argument: outside of its storage, or the storage is missing.
  // unsupported: only Python can read it, or it has no data. Messages don't repeat the name.
  [[nodiscard]] Result<Constant> find(std::string_view name);

 private:
  struct Raw {
    std::string entry;
    bool is_parameter = false;
    bool is_pickle = false;
    bool has_meta = false;
    TensorMeta meta;
  };

  Payloads(Archive& archive, ReadContext& context) : archive_(&archive), context_(&context) {}
  Status read_config(const ArchiveEntry& entry, const std::string& folder);
  Status read_raw(json::Value& object, const std::string& folder, Raw& raw);
  void read_saved(const ArchiveEntry& entry);
  [[nodiscard]] Result<Constant> make(const Raw& raw, std::string_view name);
  [[nodiscard]] Result<std::span<const std::byte>> storage(const std::string& entry);

  Archive* archive_;
  ReadContext* context_;
  std::unordered_map<std::string, Raw> raw_;
  std::unordered_map<std::string, Constant> saved_;
  std::optional<Error> error_;  // why `saved` can't be read: matters only if it is needed
  std::unordered_map<std::string, std::span<const std::byte>> storages_;
};

}  // namespace backplane
