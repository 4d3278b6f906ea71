#include <backplane/lower.hpp>
#include <backplane/program.hpp>

#include <algorithm>

#include "method_io.hpp"
#include "tensors/compare.hpp"
#include "tensors/tensor_file.hpp"
#include "ties.hpp"
#include "vector.hpp"

namespace backplane::vectors {
namespace {

using cli::InputFile;
using cli::MethodResult;
using cli::NamedTensor;

const Tensor* find(const std::vector<NamedTensor>& tensors, std::string_view name) {
  const auto at = std::find_if(tensors.begin(), tensors.end(),
                               [&](const NamedTensor& tensor) { return tensor.name == name; });
  return at == tensors.end() ? nullptr : &at->tensor;
}

Outcome compare_all(const Vector& vector, const std::vector<NamedTensor>& expected,
                    const MethodResult& result) {
  const Tensor* input = find(expected, "in.0");
  size_t compared = 0;
  for (const NamedTensor& want : expected) {
    if (!want.name.starts_with("out.")) continue;
    ++compared;
    const Tensor* have = find(result.tensors, want.name);
    if (have == nullptr) return {Verdict::wrong, want.name + " is not there"};
    const auto comparison = cli::compare(want.tensor.view(), have->view());
    if (!comparison.ok()) return {Verdict::failed, comparison.error().message};
    if (comparison->same) continue;
    const bool tie = input != nullptr && names_places(vector.op) &&
                     name_equal_elements(*input, want.tensor, *have);
    if (!tie) return {Verdict::wrong, want.name + ": " + comparison->text};
  }
  if (compared == 0) return {Verdict::failed, "the case has no outputs"};
  return {Verdict::passed, ""};
}

}  // namespace

Outcome judge(PluginSource& plugins, const std::vector<std::string>& backends, const Vector& vector,
              const std::string& scratch) {
  const auto refused = [](const Error& error) { return Outcome{Verdict::refused, error.message}; };
  const auto failed = [](const Error& error) { return Outcome{Verdict::failed, error.message}; };
  LowerOptions options;
  options.backends = backends;
  options.output = scratch + "/program.pte";
  options.force = true;
  options.num_threads = 1;
  const auto report = lower_program(plugins, {{.path = vector.stem + ".pt2"}}, options);
  if (!report.ok()) return refused(report.error());
  auto program = Program::load(options.output, plugins);
  if (!program.ok()) return refused(program.error());
  auto session = program->session();
  if (!session.ok()) return refused(session.error());
  auto method = session->method("forward");
  if (!method.ok()) return refused(method.error());

  auto expected = cli::read_tensors(vector.stem + ".safetensors");
  if (!expected.ok()) return failed(expected.error());
  std::vector<InputFile> files;
  files.push_back({{"", vector.stem + ".safetensors"}, *std::move(expected)});
  const auto inputs = cli::assign_inputs(method->info(), files);
  if (!inputs.ok()) return failed(inputs.error());
  const auto result = cli::execute(*method, *inputs);
  if (!result.ok()) return failed(result.error());
  return compare_all(vector, files[0].tensors, *result);
}

}  // namespace backplane::vectors
