// Manifests: what is read, what is refused, each rule.
#include "registry/manifest.hpp"

#include <doctest/doctest.h>

#include "temp_folder.hpp"

using namespace backplane;
using namespace backplane::registry;

namespace {

std::string refusal(const std::string& text) {
  const auto manifest = parse_manifest(text);
  return manifest.ok() ? "ok" : manifest.error().message;
}

}  // namespace

TEST_SUITE("registry") {
  TEST_CASE("a manifest says all that a plugin can be listed by") {
    const auto manifest = parse_manifest(
        "# a comment\n"
        "manifest: 1\n"
        "name: cuda\n"
        "library: 'cuda.so'\n"
        "version: \"0.1.0\"\n"
        "abi: {major: 1, min_host_minor: 2}\n"
        "provides: [compile, run]\n"
        "devices:\n  - cuda\n  - cpu\n"
        "data_placement: [external, inline]\n"
        "delegate_ids: [OtherBackend]\n"
        "aliases: [gpu]\n"
        "requires: [libcuda.so.1]\n"
        "sha256: "
        "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855\n");
    REQUIRE(manifest.ok());
    CHECK(manifest->name == "cuda");
    CHECK(manifest->library == "cuda.so");
    CHECK(manifest->version == "0.1.0");
    CHECK(manifest->abi_major == 1);
    CHECK(manifest->min_host_minor == 2);
    CHECK(manifest->provides == std::vector<std::string>{"compile", "run"});
    CHECK(manifest->devices == std::vector<std::string>{"cuda", "cpu"});
    CHECK(manifest->data_placement == std::vector<std::string>{"external", "inline"});
    CHECK(manifest->delegate_ids == std::vector<std::string>{"OtherBackend"});
    CHECK(manifest->aliases == std::vector<std::string>{"gpu"});
    CHECK(manifest->requires_libraries == std::vector<std::string>{"libcuda.so.1"});
    CHECK(manifest->sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(manifest->warnings.empty());
  }

  TEST_CASE("a key that is not known is a warning with the nearest one, not an error") {
    const auto manifest =
        parse_manifest(test::manifest("a", "provide: [run]\nfuture: {x: [1, {y: z}]}\n"));
    REQUIRE(manifest.ok());
    REQUIRE(manifest->warnings.size() == 2);
    CHECK(manifest->warnings[0] ==
          "line 6: the key 'provide' is not known; did you mean 'provides'?");
  }

  TEST_CASE("each rule has a message of its own, with the line where there is one") {
    const std::string good = test::manifest("a");
    const struct {
      std::string text, expected;
    } cases[] = {
        {good, "ok"},
        {"", "it is empty"},
        {"# nothing\n", "it is empty"},
        {"just text\n", "it consists of lines"},
        {"[1, 2]\n", "it consists of lines"},
        {"name: a\n", "it lacks 'manifest: 1'"},
        {"manifest: 2\n", "a manifest of version 2, and this host reads version 1"},
        {"manifest: one\n", "line 1: 'manifest' is a whole number"},
        {"manifest: 1\nlibrary: a.so\nversion: 1\n", "it lacks 'name'"},
        {"manifest: 1\nname: a\nversion: 1\n", "it lacks 'library'"},
        {"manifest: 1\nname: a\nlibrary: a.so\n", "it lacks 'version'"},
        {"manifest: 1\nname:\nlibrary: a.so\n", "'name' is a text"},
        {good + "name: b\n", "line 6: the key 'name' is given twice"},
        {good + "devices: cuda\n", "line 6: 'devices' is a list of texts"},
        {good + "devices: [[cuda]]\n", "line 6: 'devices' is a list of texts"},
        {good + "devices: [cuda, ~]\n", "'devices' is a list of texts"},
        {good + "provides: [fly]\n",
         "'provides' can't have 'fly': it consists of compile, run, kernels"},
        {good + "data_placement: [both]\n", "'data_placement' can't have 'both'"},
        {good + "sha256: abc\n", "'sha256' consists of 64 hex digits"},
        {good + "aliases: [none]\n", "a plugin can't be called 'none'"},
        {good + "aliases: [../x]\n", "a plugin can't be called '../x'"},
        {"manifest: 1\nname: Big\nlibrary: a.so\nversion: 1\n", "a plugin can't be called 'Big'"},
        {"manifest: 1\nname: auto\nlibrary: a.so\nversion: 1\n", "a plugin can't be called 'auto'"},
        {"manifest: 1\nname: a\nlibrary: ../a.so\nversion: 1\n",
         "the name of a file in the same folder"},
        {"manifest: 1\nname: a\nlibrary: ..\nversion: 1\n",
         "the name of a file in the same folder"},
        {"manifest: 1\nname: a\nabi: 1\n", "line 3: 'abi' is as {major: 1"},
        {"manifest: 1\nname: a\nabi: {min_host_minor: 1}\n", "line 3: 'abi' is as {major: 1"},
        {"manifest: 1\nname: a\nabi: {major: -1}\n", "line 3: 'major' is a whole number"},
        {"manifest: 1\nname: &n a\nlibrary: *n\n", "line 2: anchors (&name) are not allowed"},
        {"manifest: 1\nname: !!str a\n", "line 2: tags (!name) are not allowed"},
        {"manifest: 1\nname: !x a\n", "line 2: tags (!name) are not allowed"},
        {good + "? [a, b]\n: c\n", "line 6: a key is plain text"},
        {good + "? [? [a] : {b: c}, d]\n: c\n", "a key is plain text"},
        {good + "---\nname: b\n", "more than one document"},
        {"manifest: 1\n name: a\n", "line 2: "},
        {"manifest: [1\n", "line "},
        {std::string("\0\1\2", 3), "it consists of lines"},
    };
    for (const auto& [text, expected] : cases) {
      CAPTURE(text);
      const std::string said = refusal(text);
      CHECK_MESSAGE(said.find(expected) != std::string::npos, said);
    }
  }

  TEST_CASE("a manifest that is too long or too deep is refused without reading on") {
    CHECK(refusal(std::string((64 << 10) + 1, '#')).find("65537 bytes") != std::string::npos);
    CHECK(refusal(std::string(64 << 10, '[')).find("line ") == 0);
    CHECK(refusal(std::string(64 << 10, '{')).find("line ") == 0);
  }

  TEST_CASE("every prefix of a manifest is read or refused, and nothing else happens") {
    const std::string text = test::manifest("a", "devices: [cuda, 'c\\pu']\nx: \"\\u00e9\"\n");
    for (size_t size = 0; size <= text.size(); ++size) (void)parse_manifest(text.substr(0, size));
    for (size_t at = 0; at < text.size(); ++at) {
      for (const char c : {'\0', '\xff', '&', '*', '!', '{', ':', '\n', '"'}) {
        std::string damaged = text;
        damaged[at] = c;
        (void)parse_manifest(damaged);
      }
    }
  }

  TEST_CASE("a manifest's file is called after the plugin") {
    const test::TempFolder folder;
    const auto good = folder.write("a.backplane.yaml", test::manifest("a"));
    CHECK(read_manifest(good.string()).ok());
    const auto other = folder.write("b.backplane.yaml", test::manifest("a"));
    const auto refused = read_manifest(other.string());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message ==
          other.string() + ": it says that its name is 'a', so the file must be a.backplane.yaml");
    CHECK(read_manifest(folder.str() + "/none.backplane.yaml").error().code == Code::not_found);
    CHECK_FALSE(read_manifest(folder.str()).ok());
  }
}
