// The weights of one program: which constants its methods use, under which key each is stored.
#pragma once

#include <backplane/result.hpp>

#include <compare>
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
// "@" and 8 hex digits of the content id (and the type, where that alone differs). Views stay valid
// as long as the modules do.
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
  // One content may be there as tensors of several types: each is a datum of its own.
  struct Identity {
    ContentId id;
    std::string type;  // "float32[2, 3]"
    auto operator<=>(const Identity&) const = default;
  };
  using Contents = std::map<Identity, Entry>;
  static Identity identity(const Constant& constant, Buffers& buffers);
  static std::string key_in(const Contents& contents, const std::string& fqn,
                            const Identity& identity);
  std::map<std::string, Contents, std::less<>> contents_;  // by FQN
  std::map<std::string, NamedData, std::less<>> blobs_;
};

}  // namespace backplane::lower
