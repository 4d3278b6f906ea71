// Writing a program and its weights so that at every instant the pair that is found is whole.
//
// The weights go to `NAME.ptd.new-ID` first, then the `.pte`, which names ID, is renamed into
// place, then the weights. A crash in between leaves weights that the loader finds by their ID.
#pragma once

#include <backplane/result.hpp>

#include <string>
#include <vector>

#include "format/pte.hpp"

namespace backplane::lower {

struct PairOptions {
  std::string pte_path;
  std::string data_name;  // the weights go to DATA_NAME.ptd in the same folder
  bool force = false;     // replace weights of another program
};

struct PairSizes {
  std::string ptd_path;  // empty: no external data
  uint64_t pte_bytes = 0;
  uint64_t ptd_bytes = 0;
};

// Refuses what writing would refuse: another program's weights in the way, names that differ only
// in case. To be asked before work is done. [any thread]
[[nodiscard]] Status check_pair(const PairOptions& options);

// Adds the data record to `program` and writes both. `data` in ascending order of keys.
[[nodiscard]] Result<PairSizes> write_pair(pte::Program& program,
                                           const std::vector<NamedData>& data,
                                           const PairOptions& options);

}  // namespace backplane::lower
