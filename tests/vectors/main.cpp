// Runs an archive of operator programs and says by operator and dtype what became of each.
#include <backplane/plugins.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "pool.hpp"
#include "report.hpp"

using namespace backplane;
using namespace backplane::vectors;

namespace {

constexpr const char* kUsage =
    "usage: vectors FOLDER [--backend NAME]... [--every N] [--only OPERATOR] [--core]\n"
    "               [--jobs N] [--timeout SECONDS] [--json FILE] [--table FILE]\n"
    "\n"
    "  --every N    every Nth program of the folder alone\n"
    "  --only OP    the programs of one operator\n"
    "  --core       programs of core ATen alone\n"
    "  --json FILE  counts, and the cases that did not pass\n"
    "  --table FILE the table operator x dtype, as Markdown\n"
    "\n"
    "example: vectors opinfo/ --backend cuda --every 8 --json summary.json\n";

struct Options {
  std::string folder, only, json, table;
  std::vector<std::string> backends;
  size_t every = 1;
  size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  int timeout_s = 60;
  bool core = false;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--core") {
      options.core = true;
    } else if (!word.starts_with("-")) {
      if (!options.folder.empty()) return false;
      options.folder = word;
    } else if (++i == argc) {
      return false;
    } else if (word == "--backend") {
      if (std::string(argv[i]) != "none") options.backends.emplace_back(argv[i]);
    } else if (word == "--every") {
      options.every = static_cast<size_t>(std::max(1, std::atoi(argv[i])));
    } else if (word == "--jobs") {
      options.jobs = static_cast<size_t>(std::max(1, std::atoi(argv[i])));
    } else if (word == "--timeout") {
      options.timeout_s = std::max(1, std::atoi(argv[i]));
    } else if (word == "--only") {
      options.only = argv[i];
    } else if (word == "--json") {
      options.json = argv[i];
    } else if (word == "--table") {
      options.table = argv[i];
    } else {
      return false;
    }
  }
  return !options.folder.empty();
}

std::vector<Vector> chosen(const std::vector<Vector>& all, const Options& options) {
  std::vector<Vector> result;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!options.only.empty() && all[i].op != options.only) continue;
    if (options.core && !all[i].core) continue;
    if (i % options.every == 0) result.push_back(all[i]);
  }
  return result;
}

// A folder of each child's own, in memory where there is such: it is written for every case.
std::string make_scratch() {
  const bool memory = ::access("/dev/shm", W_OK) == 0 && std::getenv("TMPDIR") == nullptr;
  std::string path =
      (memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/vectors-XXXXXX";
  return mkdtemp(path.data()) == nullptr ? std::string() : path;
}

bool write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  std::FILE* file = std::fopen(path.c_str(), "w");
  const bool ok = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr && std::fclose(file) == 0 && ok) return true;
  std::fprintf(stderr, "vectors: can't write %s\n", path.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return 64;
  }
  auto found = find_vectors(options.folder);
  if (!found.ok()) {
    std::fprintf(stderr, "vectors: %s\n", found.error().message.c_str());
    return 1;
  }
  Report report{.backends = options.backends, .vectors = chosen(*found, options), .outcomes = {}};
  const std::string scratch = make_scratch();
  report.outcomes = run_all(report.vectors.size(), options.jobs, options.timeout_s, [&]() -> Judge {
    auto plugins = std::make_shared<Plugins>(Plugins::standard());
    const std::string own = scratch + "/" + std::to_string(::getpid());
    std::filesystem::create_directory(own);
    return [&report, plugins, own](size_t i) {
      return judge(*plugins, report.backends, report.vectors[i], own);
    };
  });
  std::filesystem::remove_all(scratch);
  print_tap(report);
  for (const bool core : {true, false}) {
    const Counts c = count(report, core);
    std::printf("# %s: %d programs: %d passed, %d wrong, %d refused, %d failed, %d crashed\n",
                core ? "core" : "all", c.total(), c.passed, c.wrong, c.refused, c.failed,
                c.crashed);
  }
  if (!write_file(options.json, options.json.empty() ? "" : to_json(report))) return 1;
  if (!write_file(options.table, options.table.empty() ? "" : to_markdown(report))) return 1;
  return count(report, false).good() ? 0 : 1;
}
