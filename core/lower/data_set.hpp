// The weights of one program: which constants its methods use, under which key each is stored.
#pragma once

#include <backplane/result.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "format/named_data.hpp"
#include "graph/graph.hpp"

namespace backplane::lower {

// Constants of all methods are added first, so that keys can be given; then the ones that are
// needed are marked. Equal contents share a segment of the file whatever their names; a name that
// stands for two contents is told apart by
// "@" and 8 hex digits of the content id. Views stay valid as long as the modules do.
class DataSet {
 public:
  // Makes `constant` known; bytes that are not dense are copied into `buffers`.
  void add(const Constant& constant, Buffers& buffers);
  // Notes that the program needs a constant that was added.
  void use(const Constant& constant, Buffers& buffers);
  // What a backend emitted. invalid_argument if the key is taken by other content.
  Status add_blob(std::string_view key, Bytes bytes, uint32_t alignment);

  [[nodiscard]] std::string key_of(const Constant& constant, Buffers& buffers) const;
  // Everything, in ascending order of keys.
  [[nodiscard]] std::vector<NamedData> list() const;

 private:
  struct Entry {
    NamedData data;
    bool used = false;
  };
  using Contents = std::map<ContentId, Entry>;
  std::map<std::string, Contents, std::less<>> contents_;  // by FQN
  std::map<std::string, NamedData, std::less<>> blobs_;
};

}  // namespace backplane::lower
