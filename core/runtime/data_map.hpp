// The named data that a program can ask for: those of its `.ptd`, then those inside the `.pte`.
//
// A program with a data record gets the file that has its set id, and nothing else. One without
// (other writers' files) gets the file that lies beside it, unchecked.
#pragma once

#include <backplane/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/mapped_file.hpp"
#include "format/ptd.hpp"
#include "plugin/backend.hpp"
#include "runtime/data_record.hpp"

namespace backplane::runtime {

class DataMap final : public DataHandler {
 public:
  struct Options {
    std::string pte_path;
    std::string data_path;  // empty: beside the .pte
    bool verify_hashes = false;
  };

  // Finds and maps the weights. `inline_data`: the `.pte`'s own, in order of keys; must outlive
  // this. not_found: no file where it was looked for. incompatible: another program's.
  // invalid_argument: damaged or cut short; a datum whose size or hash is not the recorded one.
  // Each names the file.
  [[nodiscard]] static Result<DataMap> open(const Options& options,
                                            std::span<const NamedData> inline_data);

  // The datum, or null. [any thread]
  [[nodiscard]] const NamedData* find(std::string_view key) const;
  // For backends; not_found names the files looked in. [any thread]
  Result<bp_blob_t> get(std::string_view key) override;

  // "'KEY' is neither in A nor in B", for messages.
  [[nodiscard]] std::string missing(std::string_view key) const;
  [[nodiscard]] const std::string& path() const { return path_; }  // of the .ptd; may be empty

 private:
  Status open_recorded(const Options& options, const DataRecord& record);
  Status open_beside(const Options& options);
  Status read(std::string path);
  [[nodiscard]] Status check(const DataRecord& record, bool verify_hashes) const;

  std::string pte_path_;
  std::string path_;
  std::vector<std::string> looked_at_;  // without success
  MappedFile file_;
  ptd::DataFile external_;
  std::span<const NamedData> inline_;
  std::vector<DatumRecord> records_;  // by key: hashes for content ids
};

}  // namespace backplane::runtime
