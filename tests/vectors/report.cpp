#include "report.hpp"

#include <cstdio>
#include <map>
#include <set>

#include "json_writer.hpp"

namespace backplane::vectors {
namespace {

// By operator, then dtype: the indices of its cases.
using Groups = std::map<std::string, std::map<std::string, std::vector<size_t>>>;

Groups group(const Report& report) {
  Groups groups;
  for (size_t i = 0; i < report.vectors.size(); ++i)
    groups[report.vectors[i].op][report.vectors[i].dtype].push_back(i);
  return groups;
}

Counts count_of(const Report& report, const std::vector<size_t>& cases) {
  Counts counts;
  for (const size_t i : cases) counts.add(report.outcomes[i].verdict);
  return counts;
}

std::string plain(std::string text) {
  for (char& c : text) {
    if (c == '#' || c == '\n') c = ' ';
  }
  return text.substr(0, 300);
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::wrong:
      return "wrong";
    case Verdict::refused:
      return "refused";
    case Verdict::failed:
      return "failed";
    case Verdict::crashed:
      break;
  }
  return "crashed";
}

void write_counts(cli::JsonWriter& json, const char* name, const Counts& counts) {
  json.key(name);
  json.begin_object();
  json.member("total", counts.total());
  json.member("passed", counts.passed);
  json.member("wrong", counts.wrong);
  json.member("refused", counts.refused);
  json.member("failed", counts.failed);
  json.member("crashed", counts.crashed);
  json.end_object();
}

}  // namespace

void Counts::add(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      ++passed;
      break;
    case Verdict::wrong:
      ++wrong;
      break;
    case Verdict::refused:
      ++refused;
      break;
    case Verdict::failed:
      ++failed;
      break;
    case Verdict::crashed:
      ++crashed;
      break;
  }
}

Counts count(const Report& report, bool core_only) {
  Counts counts;
  for (size_t i = 0; i < report.vectors.size(); ++i) {
    if (!core_only || report.vectors[i].core) counts.add(report.outcomes[i].verdict);
  }
  return counts;
}

void print_tap(const Report& report) {
  const Groups groups = group(report);
  size_t total = 0;
  for (const auto& [op, dtypes] : groups) total += dtypes.size();
  std::printf("1..%zu\n", total);
  size_t number = 0;
  for (const auto& [op, dtypes] : groups) {
    for (const auto& [dtype, cases] : dtypes) {
      const Counts counts = count_of(report, cases);
      const bool skip = counts.good() && counts.passed == 0;
      std::printf("%s %zu - %s %s: %d of %d passed%s\n", counts.good() ? "ok" : "not ok", ++number,
                  op.c_str(), dtype.c_str(), counts.passed, counts.total(),
                  skip ? (" # SKIP " + plain(report.outcomes[cases[0]].reason)).c_str() : "");
      for (const size_t i : cases) {
        const Outcome& outcome = report.outcomes[i];
        if (outcome.verdict == Verdict::passed || skip) continue;
        std::printf("# %s: %s: %s\n", report.vectors[i].stem.c_str(), name_of(outcome.verdict),
                    plain(outcome.reason).c_str());
      }
    }
  }
}

std::string to_json(const Report& report) {
  cli::JsonWriter json;
  json.begin_object();
  json.member("backends", report.backends);
  write_counts(json, "core", count(report, true));
  write_counts(json, "all", count(report, false));
  json.key("not_passed");
  json.begin_array();
  for (size_t i = 0; i < report.vectors.size(); ++i) {
    const Outcome& outcome = report.outcomes[i];
    if (outcome.verdict == Verdict::passed) continue;
    json.begin_object();
    json.member("op", report.vectors[i].op);
    json.member("dtype", report.vectors[i].dtype);
    json.member("case", report.vectors[i].stem);
    json.member("core", report.vectors[i].core);
    json.member("verdict", name_of(outcome.verdict));
    json.member("reason", outcome.reason);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return std::string(json.text()) + "\n";
}

std::string to_markdown(const Report& report) {
  std::set<std::string> dtypes;
  for (const Vector& vector : report.vectors) dtypes.insert(vector.dtype);
  std::string backends;
  for (const std::string& name : report.backends) backends += (backends.empty() ? "" : ", ") + name;
  const Counts all = count(report, false);
  const Counts core = count(report, true);
  std::string text =
      "# Operators\n\nWhat `tests/vectors/run` found, of PyTorch's own samples: passed of run, "
      "with " +
      (backends.empty() ? std::string("kernels alone") : backends) + ". " +
      std::to_string(all.passed) + " of " + std::to_string(all.total()) + " programs pass, " +
      std::to_string(core.passed) + " of the " + std::to_string(core.total()) +
      " that are core ATen; " + std::to_string(all.wrong) + " are wrong, " +
      std::to_string(all.crashed) +
      " crash; the rest are refused before they run. Not to be edited: "
      "`tests/vectors/run ARCHIVE --table docs/operators.md` writes this page.\n\n| operator |";
  for (const std::string& dtype : dtypes) text += " " + dtype + " |";
  text += "\n|---|";
  for (size_t i = 0; i < dtypes.size(); ++i) text += "---|";
  for (const auto& [op, by_dtype] : group(report)) {
    text += "\n| " + op + " |";
    for (const std::string& dtype : dtypes) {
      const auto at = by_dtype.find(dtype);
      if (at == by_dtype.end()) {
        text += " |";
        continue;
      }
      const Counts counts = count_of(report, at->second);
      text += " " + std::to_string(counts.passed) + "/" + std::to_string(counts.total()) + " |";
    }
  }
  return text + "\n";
}

}  // namespace backplane::vectors
