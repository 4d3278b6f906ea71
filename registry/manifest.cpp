#include "registry/manifest.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>
#include <optional>
#include <sstream>

#include "common/mapped_file.hpp"
#include "common/nearest.hpp"
#include "plugin/option_values.hpp"
#include "plugin/table.hpp"

namespace backplane::registry {
namespace {

constexpr size_t kLongestManifest = size_t{64} << 10;

Error at_line(int line, std::string_view what) {
  return {Code::invalid_argument, "line " + std::to_string(line) + ": " + std::string(what)};
}

// What the text says, before it has a meaning. Mappings keep their keys in items' `key`.
struct Node {
  enum class Kind : uint8_t { null, scalar, list, map } kind = Kind::null;
  std::string key;
  std::string text;
  std::vector<Node> items;
  int line = 0;
};

// Builds the tree and refuses what manifests may not contain. yaml-cpp's own Node would resolve
// anchors, drop tags and let the last of two equal keys win, all silently.
class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, Node::Kind::null, "", anchor, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (*name) are not allowed");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    add(mark, Node::Kind::scalar, tag, anchor, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::list, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::map, tag, anchor);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const Node& root() const { return root_; }

 private:
  void refuse(const YAML::Mark& mark, std::string_view what) {
    if (!error_) error_ = at_line(mark.line + 1, what);
  }

  // The new node; null for a key, and once there is an error: nothing more is built then.
  Node* add(const YAML::Mark& mark, Node::Kind kind, const std::string& tag, YAML::anchor_t anchor,
            const std::string& text) {
    if (error_) return nullptr;
    if (anchor != 0) refuse(mark, "anchors (&name) are not allowed");
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags (!name) are not allowed");
    Node* parent = open_.empty() ? nullptr : open_.back();
    if (parent != nullptr && parent->kind == Node::Kind::map && !key_) {
      if (kind != Node::Kind::scalar) refuse(mark, "a key is plain text");
      const bool twice = std::any_of(parent->items.begin(), parent->items.end(),
                                     [&](const Node& n) { return n.key == text; });
      if (twice) refuse(mark, "the key " + quote(text) + " is given twice");
      key_ = text;
      return nullptr;
    }
    Node& node = parent == nullptr ? root_ : parent->items.emplace_back();
    node = {kind, key_.value_or(""), text, {}, mark.line + 1};
    key_.reset();
    return &node;
  }
  void open(const YAML::Mark& mark, Node::Kind kind, const std::string& tag,
            YAML::anchor_t anchor) {
    Node* node = add(mark, kind, tag, anchor, "");
    if (!error_) open_.push_back(node);
  }
  void close() {
    if (!error_) open_.pop_back();
  }

  Node root_;
  std::vector<Node*> open_;  // an item's address stays while it is open: its siblings come later
  std::optional<std::string> key_;
  std::optional<Error> error_;
};

Result<Node> parse_tree(std::string_view text) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    if (!parser.HandleNextDocument(builder)) {
      return Error{Code::invalid_argument, "it is empty"};
    }
    if (builder.error()) return *builder.error();
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
      return Error{Code::invalid_argument, "it holds more than one document"};
    }
    return builder.root();
  } catch (const YAML::Exception& e) {
    return at_line(e.mark.line + 1, e.msg);
  } catch (const std::exception& e) {
    return Error{Code::invalid_argument, std::string("it is no YAML: ") + e.what()};
  }
}

Status read_text(const Node& node, std::string& out) {
  if (node.kind != Node::Kind::scalar || node.text.empty()) {
    return at_line(node.line, quote(node.key) + " is a text");
  }
  out = node.text;
  return Ok{};
}

Status read_list(const Node& node, std::vector<std::string>& out) {
  if (node.kind != Node::Kind::list) {
    return at_line(node.line, quote(node.key) + " is a list of texts, as [a, b]");
  }
  for (const Node& item : node.items) {
    if (item.kind != Node::Kind::scalar || item.text.empty()) {
      return at_line(item.line, quote(node.key) + " is a list of texts, as [a, b]");
    }
    out.push_back(item.text);
  }
  return Ok{};
}

Status read_number(const Node& node, uint32_t& out) {
  const char* end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, out);
  if (node.kind != Node::Kind::scalar || error != std::errc() || stop != end) {
    return at_line(node.line, quote(node.key) + " is a whole number");
  }
  return Ok{};
}

Status read_abi(const Node& node, Manifest& manifest) {
  bool has_major = false;
  if (node.kind == Node::Kind::map) {
    for (const Node& item : node.items) {
      if (item.key == "major") BP_TRY(read_number(item, manifest.abi_major));
      if (item.key == "min_host_minor") BP_TRY(read_number(item, manifest.min_host_minor));
      has_major = has_major || item.key == "major";
    }
  }
  if (has_major) return Ok{};
  return at_line(node.line, "'abi' is as {major: 1, min_host_minor: 0}");
}

struct TextField {
  std::string_view key;
  std::string Manifest::*member;
  bool required;
};
constexpr TextField kTextFields[] = {
    {"name", &Manifest::name, true},
    {"library", &Manifest::library, true},
    {"version", &Manifest::version, true},
    {"sha256", &Manifest::sha256, false},
};
struct ListField {
  std::string_view key;
  std::vector<std::string> Manifest::*member;
};
constexpr ListField kListFields[] = {
    {"provides", &Manifest::provides},
    {"devices", &Manifest::devices},
    {"data_placement", &Manifest::data_placement},
    {"delegate_ids", &Manifest::delegate_ids},
    {"aliases", &Manifest::aliases},
    {"requires", &Manifest::requires_libraries},
};

Status read_field(const Node& node, Manifest& manifest) {
  std::vector<std::string_view> known = {"manifest", "abi"};
  for (const TextField& field : kTextFields) {
    if (field.key == node.key) return read_text(node, manifest.*field.member);
    known.push_back(field.key);
  }
  for (const ListField& field : kListFields) {
    if (field.key == node.key) return read_list(node, manifest.*field.member);
    known.push_back(field.key);
  }
  if (node.key == "abi") return read_abi(node, manifest);
  if (node.key == "manifest") return Ok{};
  manifest.warnings.push_back("line " + std::to_string(node.line) + ": the key " + quote(node.key) +
                              " is not known" + did_you_mean(node.key, known));
  return Ok{};
}

Status check_version(const Node& root) {
  for (const Node& node : root.items) {
    if (node.key != "manifest") continue;
    uint32_t version = 0;
    BP_TRY(read_number(node, version));
    if (version == 1) return Ok{};
    return Error{Code::incompatible, "it is a manifest of version " + std::to_string(version) +
                                         ", and this host reads version 1: update backplane"};
  }
  return Error{Code::invalid_argument, "it lacks 'manifest: 1'"};
}

Status check_words(std::string_view key, const std::vector<std::string>& words,
                   std::span<const std::string_view> allowed) {
  for (const std::string& word : words) {
    if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) continue;
    return Error{Code::invalid_argument, quote(key) + " can't have " + quote(word) +
                                             ": it consists of " +
                                             join_words({allowed.begin(), allowed.end()})};
  }
  return Ok{};
}

Status check_meaning(Manifest& manifest) {
  for (const TextField& field : kTextFields) {
    if (field.required && (manifest.*field.member).empty()) {
      return Error{Code::invalid_argument, "it lacks " + quote(field.key)};
    }
  }
  std::vector<std::string> names = manifest.aliases;
  names.push_back(manifest.name);
  for (const std::string& name : names) {
    if (is_plugin_name(name) && name != "none" && name != "auto") continue;
    return Error{Code::invalid_argument,
                 "a plugin can't be called " + quote(name) +
                     ": names are 1 to 64 of a-z, 0-9, '_' and '-', a letter or digit first, and "
                     "'none' and 'auto' are taken"};
  }
  if (manifest.library.find('/') != std::string::npos || manifest.library[0] == '.') {
    return Error{Code::invalid_argument, "'library' can't be " + quote(manifest.library) +
                                             ": it is the name of a file in the same folder"};
  }
  constexpr std::string_view kProvides[] = {"compile", "run", "kernels"};
  constexpr std::string_view kPlacements[] = {"inline", "external"};
  BP_TRY(check_words("provides", manifest.provides, kProvides));
  BP_TRY(check_words("data_placement", manifest.data_placement, kPlacements));
  for (char& c : manifest.sha256) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  if (!manifest.sha256.empty() &&
      (manifest.sha256.size() != 64 ||
       manifest.sha256.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    return Error{Code::invalid_argument, "'sha256' consists of 64 hex digits"};
  }
  return Ok{};
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view text) {
  if (text.size() > kLongestManifest) {
    return Error{Code::invalid_argument, "it has " + std::to_string(text.size()) +
                                             " bytes, and a manifest at most " +
                                             std::to_string(kLongestManifest)};
  }
  BP_ASSIGN_OR_RETURN(const Node root, parse_tree(text));
  if (root.kind != Node::Kind::map) {
    return Error{Code::invalid_argument, "it consists of lines as 'name: cuda'"};
  }
  BP_TRY(check_version(root));
  Manifest manifest;
  for (const Node& node : root.items) BP_TRY(read_field(node, manifest));
  BP_TRY(check_meaning(manifest));
  return manifest;
}

Result<Manifest> read_manifest(const std::string& path) {
  BP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const auto bytes = file.bytes();
  auto manifest = parse_manifest({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!manifest.ok()) return std::move(manifest).error().in(path);
  const std::string file_name = std::filesystem::path(path).filename().string();
  if (file_name != manifest->name + std::string(kManifestSuffix)) {
    return Error{Code::invalid_argument, path + ": it says that its name is " +
                                             quote(manifest->name) + ", so the file must be " +
                                             manifest->name + std::string(kManifestSuffix)};
  }
  return manifest;
}

}  // namespace backplane::registry
