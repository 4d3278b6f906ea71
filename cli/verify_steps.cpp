#include "verify_steps.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace backplane::cli {
namespace {

// N of "stepN.…"; 0 for other keys.
int64_t step_number(std::string_view key) {
  constexpr std::string_view kStep = "step";
  const size_t dot = key.find('.');
  if (!key.starts_with(kStep) || dot == std::string_view::npos) return 0;
  const auto number = parse_integer(key.substr(kStep.size(), dot - kStep.size()));
  return number && *number > 0 ? *number : 0;
}

bool is_output(std::string_view key) {
  return key.starts_with("out.") || key.starts_with("mutated.");
}

Result<ComparedTensor> compare_one(const NamedTensor& expected, std::string_view key,
                                   const MethodResult& result, std::optional<double> tolerance) {
  const auto actual = std::find_if(result.tensors.begin(), result.tensors.end(),
                                   [&](const NamedTensor& tensor) { return tensor.name == key; });
  ComparedTensor compared{.key = expected.name, .comparison = {}};
  if (actual == result.tensors.end()) {
    compared.comparison.text = "different: the method has no such output";
    return compared;
  }
  BP_ASSIGN_OR_RETURN(compared.comparison,
                      compare(expected.tensor.view(), actual->tensor.view(), tolerance));
  return compared;
}

}  // namespace

std::vector<std::string> steps_of(const std::vector<NamedTensor>& tensors) {
  std::set<int64_t> numbers;
  for (const NamedTensor& tensor : tensors) numbers.insert(step_number(tensor.name));
  numbers.erase(0);
  std::vector<std::string> steps;
  for (const int64_t number : numbers) steps.push_back("step" + std::to_string(number) + ".");
  if (steps.empty()) steps.emplace_back();
  return steps;
}

Result<std::vector<ComparedTensor>> verify_steps(Method& method, InputFile file,
                                                 std::optional<double> tolerance) {
  const std::string path = file.text.path;
  std::vector<InputFile> files;
  files.push_back(std::move(file));
  std::vector<ComparedTensor> all;
  for (const std::string& step : steps_of(files[0].tensors)) {
    BP_ASSIGN_OR_RETURN(const auto inputs, assign_inputs(method.info(), files, step));
    BP_ASSIGN_OR_RETURN(const MethodResult result, execute(method, inputs));
    for (const NamedTensor& expected : files[0].tensors) {
      std::string_view key = expected.name;
      if (!key.starts_with(step)) continue;
      key.remove_prefix(step.size());
      if (!is_output(key)) continue;
      BP_ASSIGN_OR_RETURN(ComparedTensor compared, compare_one(expected, key, result, tolerance));
      all.push_back(std::move(compared));
    }
  }
  if (all.empty()) {
    return Error{
        Code::invalid_argument,
        path + ": has no out.K to compare with; it must hold what the program should give"};
  }
  std::sort(all.begin(), all.end(),
            [](const ComparedTensor& a, const ComparedTensor& b) { return a.key < b.key; });
  return all;
}

size_t show_comparisons(const Console& console, const std::vector<ComparedTensor>& all) {
  size_t different = 0;
  for (const auto& [key, comparison] : all) {
    console.print(key + "  " + comparison.text);
    different += comparison.same ? 0 : 1;
  }
  JsonWriter json;
  json.begin_object();
  json.member("same", different == 0);
  json.key("tensors");
  json.begin_array();
  for (const auto& [key, comparison] : all) {
    json.begin_object();
    json.member("key", key);
    json.member("same", comparison.same);
    json.member("relative_error", comparison.relative_error);
    json.member("tolerance", comparison.tolerance);
    json.member("worst_element", comparison.worst_element);
    json.member("different_elements", comparison.num_different);
    json.member("text", comparison.text);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  if (console.json) console.document(json);
  return different;
}

}  // namespace backplane::cli
