#include "made_plan.hpp"

#include <backplane/graph.h>
#include <backplane/graph.hpp>

#include <string_view>

namespace backplane::cuda {
namespace {

class Maker {
 public:
  explicit Maker(const MadePlan& made) : made_(made) {}

  Plan make() {
    plan_.summary.push_back({0, 0, text("nvrtc 13.0"), text("forward")});
    const SizeId one = size({{BP_SYM_CONSTANT, 0, 1}}, 1);
    const SizeId item = size({{BP_SYM_CONSTANT, 0, 4}}, 4);
    const int64_t most = made_.most_rows;
    const SizeId n = size({{kTokenInputDim, 0, 0}}, most);
    const SizeId m = size({{kTokenInputDim, 1, 0}}, most);
    const SizeId count =
        size({{kTokenSize, 0, n}, {kTokenSize, 0, m}, {BP_SYM_MUL, 2, 0}}, most * most);
    const SizeId bytes = size({{kTokenSize, 0, count}, {BP_SYM_CONSTANT, 0, 4}, {BP_SYM_MUL, 2, 0}},
                              most * most * 4);
    const SizeList dims = list({n, m});
    const SizeList strides = list({m, one});
    const uint32_t x = buffer(BufferKind::input, bytes, dims, strides, "x");
    const uint32_t y = buffer(BufferKind::output, bytes, dims, strides, "y");
    const uint32_t w = buffer(BufferKind::weight, item, {}, {}, "w");
    const uint32_t t = buffer(BufferKind::arena, bytes, {}, {}, "t");
    const uint32_t number = buffer(BufferKind::number, item, {}, {}, "number");
    plan_.buffers[w].parts = {0, 1};
    plan_.parts.push_back({text(made_.weight), 0, 4});
    plan_.inputs = {x, number};
    plan_.outputs = {y};
    add_code();
    using enum ParameterKind;
    kernel("twice", {pointer, pointer, i64}, "");
    kernel("rows", {pointer, pointer, pointer, i64, i64, f64, fault, node}, "too large");
    launch(0, {{pointer, x, kNone}, {pointer, t, kNone}, {i64, kNone, count}}, one);
    launch(1,
           {{pointer, t, kNone},
            {pointer, w, kNone},
            {pointer, y, kNone},
            {i64, kNone, n},
            {i64, kNone, m},
            {f64, 1, kNone},
            {fault, kNone, kNone},
            {node, kNone, kNone}},
           one);
    plan_.steps = {{StepKind::launch, 0, 7, text("double")}, {StepKind::launch, 1, 8, text("add")}};
    return plan_;
  }

 private:
  Text text(std::string_view added) {
    const Text place{static_cast<uint32_t>(plan_.text.size()), static_cast<uint32_t>(added.size())};
    plan_.text.insert(plan_.text.end(), added.begin(), added.end());
    return place;
  }
  SizeId size(std::initializer_list<Token> tokens, int64_t bound) {
    plan_.sizes.push_back(
        {{static_cast<uint32_t>(plan_.tokens.size()), static_cast<uint32_t>(tokens.size())},
         bound});
    plan_.tokens.insert(plan_.tokens.end(), tokens);
    return static_cast<SizeId>(plan_.sizes.size() - 1);
  }
  SizeList list(std::initializer_list<SizeId> sizes) {
    const SizeList place{static_cast<uint32_t>(plan_.size_lists.size()),
                         static_cast<uint32_t>(sizes.size())};
    plan_.size_lists.insert(plan_.size_lists.end(), sizes);
    return place;
  }
  uint32_t buffer(BufferKind kind, SizeId bytes, SizeList dims, SizeList strides,
                  std::string_view name) {
    plan_.buffers.push_back({kind, sdk::kFloat32, bytes, 4, dims, strides, {}, 0, 1, text(name)});
    return static_cast<uint32_t>(plan_.buffers.size() - 1);
  }
  void add_code() {
    const std::string image = "twins:" TWINS;
    for (const char c : image) plan_.bytes.push_back(static_cast<std::byte>(c));
    plan_.bytes.push_back(std::byte{0});
    const bool is_ptx = made_.target.starts_with("compute_");
    const auto capability =
        static_cast<uint32_t>(std::stoi(made_.target.substr(made_.target.find('_') + 1)));
    plan_.images.push_back({is_ptx ? ImageKind::ptx : ImageKind::cubin,
                            capability,
                            made_.target.ends_with("a") ? 1U : 0U,
                            0,
                            {0, plan_.bytes.size()},
                            text(made_.target)});
    plan_.modules.push_back({{0, 1}, text("source")});
  }
  void kernel(std::string_view name, std::initializer_list<ParameterKind> parameters,
              std::string_view fault) {
    const Range range{static_cast<uint32_t>(plan_.parameters.size()),
                      static_cast<uint32_t>(parameters.size())};
    plan_.parameters.insert(plan_.parameters.end(), parameters);
    plan_.kernels.push_back({0, text(name), range, text(fault)});
  }
  void launch(uint32_t kernel, std::initializer_list<Argument> arguments, SizeId one) {
    const Range range{static_cast<uint32_t>(plan_.arguments.size()),
                      static_cast<uint32_t>(arguments.size())};
    plan_.arguments.insert(plan_.arguments.end(), arguments);
    plan_.launches.push_back({kernel, 0, {one, one, one}, {one, one, one}, kNone, range});
  }

  const MadePlan& made_;
  Plan plan_;
};

}  // namespace

std::vector<std::byte> made_payload(const MadePlan& made) {
  return write_payload(Maker(made).make());
}

}  // namespace backplane::cuda
