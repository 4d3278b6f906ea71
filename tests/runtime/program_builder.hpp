// Small programs, made in memory by the file's own writer: what a test says is all that there is.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "format/ptd.hpp"
#include "format/pte.hpp"
#include "runtime/data_record.hpp"
#include "runtime/delegate_io.hpp"
#include "runtime/signature.hpp"

namespace backplane::test {

using pte::ShapeDynamism;
using pte::ValueIndex;

// A folder of its own that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// One method. Tensors are float32 unless said otherwise, planned one behind the other.
class MethodBuilder {
 public:
  explicit MethodBuilder(std::string name) {
    plan_.name = std::move(name);
    plan_.chains.resize(1);
  }

  ValueIndex value(pte::Value value);
  // Without memory: an input, or what is gotten when it is first seen.
  ValueIndex loose(std::vector<int32_t> sizes, ShapeDynamism dynamism = ShapeDynamism::fixed,
                   DType dtype = DType::f32);
  ValueIndex planned(std::vector<int32_t> sizes, ShapeDynamism dynamism = ShapeDynamism::fixed,
                     DType dtype = DType::f32);
  ValueIndex constant(std::vector<int32_t> sizes, uint32_t data_index);
  ValueIndex external(std::vector<int32_t> sizes, std::string fqn);
  // A buffer of the session; `data_index` 0: zeros.
  ValueIndex state(std::vector<int32_t> sizes, std::string fqn, uint32_t data_index = 0);
  ValueIndex ints(std::vector<ValueIndex> items) { return value(pte::IntList{std::move(items)}); }

  // "aten::add.out" with its arguments as ExecuTorch writes them: the result comes once more.
  int32_t call(const std::string& op, std::vector<ValueIndex> args);
  int32_t delegate(pte::Delegate delegate, std::vector<ValueIndex> args);
  int32_t move(ValueIndex from, ValueIndex to);
  int32_t jump_if_false(ValueIndex condition, int32_t destination = 0);
  void land(int32_t jump);
  void jump_to(int32_t destination);
  [[nodiscard]] int32_t next() const;

  MethodBuilder& inputs(std::vector<ValueIndex> indices) {
    plan_.inputs = std::move(indices);
    return *this;
  }
  MethodBuilder& outputs(std::vector<ValueIndex> indices) {
    plan_.outputs = std::move(indices);
    return *this;
  }
  pte::Plan& plan() { return plan_; }

 private:
  ValueIndex tensor(pte::Tensor tensor, std::vector<int32_t> sizes);
  pte::Plan plan_;
};

// A delegate with `bp.io`.
pte::Delegate delegate_of(std::string id, runtime::DelegateIo io, Bytes payload = {});

// Keeps bytes for the program that is written.
struct ProgramFile {
  pte::Program program;
  runtime::Signature signature;
  std::vector<std::vector<float>> owned;

  Bytes floats(std::vector<float> values);
  uint32_t constant(std::vector<float> values);  // its data_index
  uint32_t initial_state(std::vector<float> values);
  void add(MethodBuilder& method) { program.plans.push_back(std::move(method.plan())); }
  // With `weights`: a .ptd of that name beside, and the record of it.
  std::string write(const TemporaryFolder& folder, const std::string& name = "model.pte",
                    const std::vector<std::pair<std::string, std::vector<float>>>& weights = {});
};

}  // namespace backplane::test
