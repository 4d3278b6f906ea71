// Loading: which weights are taken, how what is wrong with them is told apart, and that all that is
// missing is said at once.
#include <filesystem>
#include <fstream>

#include "common/mapped_file.hpp"
#include "loaded.hpp"

using namespace backplane;
using namespace backplane::test;

namespace {

// y = x + w.
void add_weight(ProgramFile& file) {
  MethodBuilder b("forward");
  const auto x = b.loose({2});
  const auto w = b.external({2}, "w");
  const auto y = b.planned({2});
  b.call("aten::add.out", {x, w, b.value(int64_t{1}), y, y});
  b.inputs({x}).outputs({y});
  file.add(b);
}

std::string write(const TemporaryFolder& folder, const std::string& name, std::vector<float> w) {
  ProgramFile file;
  add_weight(file);
  return file.write(folder, name, {{"w", std::move(w)}});
}

Status load_status(const std::string& path, TestPlugins& plugins, const LoadOptions& options = {}) {
  auto program = Program::load(path, plugins, options);
  if (!program.ok()) return std::move(program).error();
  return Ok{};
}

std::vector<float> result(const std::string& path, TestPlugins& plugins) {
  auto loaded = load(path, plugins);
  std::vector<float> x{1, 1};
  REQUIRE(run(loaded.method, x, {2}).ok());
  return floats(loaded.method, 0);
}

void flip_byte(const std::string& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const auto byte = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(byte);
}

}  // namespace

TEST_SUITE("core/runtime/load") {
  TEST_CASE("weights are found beside the program, by the name that it has") {
    TemporaryFolder folder;
    TestPlugins plugins;
    const std::string path = write(folder, "a.pte", {10, 20});
    CHECK(result(path, plugins) == std::vector<float>{11, 21});
  }

  TEST_CASE("missing, other and cut-short weights are three messages, each with the path") {
    TemporaryFolder folder;
    TestPlugins plugins;
    const std::string a = write(folder, "a.pte", {1, 2});
    write(folder, "b.pte", {3, 4});
    const std::string data = folder.path("a.ptd");
    const std::string kept = folder.path("kept");
    std::filesystem::copy_file(data, kept);

    std::filesystem::remove(data);
    CHECK(fails(load_status(a, plugins), Code::not_found,
                "a.pte: its weights are missing: there is no '" + data));
    std::filesystem::copy_file(folder.path("b.ptd"), data);
    CHECK(fails(load_status(a, plugins), Code::incompatible,
                data + ": has the weights of another program"));
    std::filesystem::copy_file(kept, data, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(data, std::filesystem::file_size(data) - 4);
    CHECK(fails(load_status(a, plugins), Code::invalid_argument, data));
    CHECK(fails(load_status(a, plugins), Code::invalid_argument, "cut short?"));
  }

  TEST_CASE("between two renames, the new weights under their temporary name are taken") {
    TemporaryFolder folder;
    TestPlugins plugins;
    const std::string path = write(folder, "a.pte", {1, 2});
    const std::string data = folder.path("a.ptd");
    const std::string old = folder.path("old");
    std::filesystem::rename(data, old);
    const std::string renewed = write(folder, "a.pte", {5, 6});
    auto file = MappedFile::open(renewed);
    auto program = pte::read(file->bytes(), "a.pte");
    auto record =
        runtime::read_data_record(find(program->named_data, runtime::kDataRecordKey)->data);
    std::filesystem::rename(data, data + ".new-" + record->set_id);
    std::filesystem::rename(old, data);
    CHECK(result(path, plugins) == std::vector<float>{6, 7});
  }

  TEST_CASE("data_path alone is looked at, and must be the program's") {
    TemporaryFolder folder;
    TestPlugins plugins;
    const std::string path = write(folder, "a.pte", {1, 2});
    write(folder, "b.pte", {3, 4});
    std::filesystem::rename(folder.path("a.ptd"), folder.path("elsewhere"));
    CHECK(load_status(path, plugins, {.data_path = folder.path("elsewhere")}).ok());
    CHECK(fails(load_status(path, plugins, {.data_path = folder.path("b.ptd")}), Code::incompatible,
                "b.ptd"));
    CHECK(fails(load_status(path, plugins, {.data_path = folder.path("no.ptd")}), Code::not_found,
                "no.ptd"));
  }

  TEST_CASE("a changed weight is seen when hashes are verified, and only then") {
    TemporaryFolder folder;
    TestPlugins plugins;
    const std::string path = write(folder, "a.pte", {1, 2});
    auto file = MappedFile::open(folder.path("a.ptd"));
    auto data = ptd::read(file->bytes(), "a.ptd");
    const std::byte* weight = find(data->data, "w")->data.data();
    flip_byte(folder.path("a.ptd"), weight - file->bytes().data());
    CHECK(load_status(path, plugins).ok());
    CHECK(fails(load_status(path, plugins, {.verify_hashes = true}), Code::invalid_argument,
                "a.ptd: datum 'w' has other bytes than when the program was written"));
  }

  TEST_CASE(
      "a program without a record takes the file beside it, unchecked but for types and sizes") {
    TemporaryFolder folder;
    TestPlugins plugins;
    ProgramFile file;
    add_weight(file);
    const std::string path = file.write(folder, "foreign.pte");
    CHECK(fails(load_status(path, plugins), Code::not_found, "datum 'w' is not in " + path));
    const std::vector<float> w{3, 4};
    ptd::DataFile data;
    data.data.push_back({.key = "w", .data = std::as_bytes(std::span(w))});
    data.data[0].layout = TensorLayout{DType::f32, {2}, {0}};
    REQUIRE(ptd::write(data, {}, folder.path("foreign.ptd")).ok());
    CHECK(result(path, plugins) == std::vector<float>{4, 5});
    data.data[0].layout = TensorLayout{DType::i32, {2}, {0}};
    REQUIRE(ptd::write(data, {}, folder.path("foreign.ptd")).ok());
    CHECK(fails(load_status(path, plugins), Code::incompatible, "datum 'w'"));
  }

  TEST_CASE("all that is missing is listed in one error") {
    TemporaryFolder folder;
    TestPlugins plugins;
    ProgramFile file;
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto y = b.planned({2});
    const auto i = b.loose({2}, ShapeDynamism::fixed, DType::i32);
    b.call("aten::nope.out", {x, y, y});
    b.call("aten::nope.out", {y, x, x});
    b.call("aten::never.out", {x, y, y});
    b.call("aten::add.out", {i, i, b.value(int64_t{1}), y, y});
    b.call("aten::add.out", {b.external({2}, "gone"), x, b.value(int64_t{1}), y, y});
    b.delegate(delegate_of("backplane.nobody", {1, 1, {}}), {x, y});
    b.inputs({x, i}).outputs({y});
    file.add(b);
    const std::string path = file.write(folder);
    const Status status = load_status(path, plugins);
    for (const char* part :
         {"operator 'aten::nope.out' (method 'forward', instruction 0",
          "operator 'aten::never.out'",
          "no kernel takes the arguments of method 'forward', instruction 3, aten::add.out: plugin "
          "'stub': floats only",
          "datum 'gone' is not in", "delegate 'backplane.nobody': there is no plugin 'nobody'"}) {
      CHECK(fails(status, Code::not_found, part));
    }
    const std::string& text = status.error().message;
    CHECK(text.find("aten::nope") == text.rfind("'aten::nope.out'") + 1);
    CHECK(text.find('\n') == std::string::npos);
  }

  TEST_CASE("of two libraries the first that supports the values is taken") {
    TemporaryFolder folder;
    TestPlugins plugins;
    static constexpr auto kNoInts = [](const bp_kernel_t*, bp_kernel_ctx_t*, const bp_boxed_t* v,
                                       uint32_t) -> int32_t {
      return v[1].kind == BP_BOX_DOUBLE ? BP_OK : BP_UNSUPPORTED;
    };
    static constexpr auto kNines = [](const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v,
                                      uint32_t) {
      const int32_t code = ctx->resize(ctx, v[2].v.tensor, 1, v[0].v.tensor->shape);
      *static_cast<float*>(v[2].v.tensor->data) = 9;
      return code;
    };
    static const bp_kernel_t kernel{
        BP_TEXT("aten::mul.Scalar_out"), kNoInts, kNines, nullptr, 0, BP_DEV_CPU};
    static const bp_kernels_t library{sizeof(bp_kernels_t), 1, sizeof(bp_kernel_t), 0, &kernel};
    plugins.more_libraries = {{*plugins.find("stub"), &library}};
    MethodBuilder b("forward");
    const auto x = b.loose({1});
    const auto y = b.planned({1});
    const auto z = b.planned({1});
    b.call("aten::mul.Scalar_out", {x, b.value(2.0), y, y});
    b.call("aten::mul.Scalar_out", {x, b.value(int64_t{2}), z, z});
    b.inputs({x}).outputs({y, z});
    auto loaded = load(b, plugins, folder);
    std::vector<float> in{5};
    REQUIRE(run(loaded.method, in, {1}).ok());
    CHECK(floats(loaded.method, 0) == std::vector<float>{9});
    CHECK(floats(loaded.method, 1) == std::vector<float>{10});
  }

  TEST_CASE("a signature that does not fit the program is refused") {
    TemporaryFolder folder;
    TestPlugins plugins;
    ProgramFile file;
    add_weight(file);
    file.signature.methods.push_back({"forward", {}, {{"x", {{}, {}}, {}, -1}}, {{}}});
    const std::string path = file.write(folder, "a.pte", {{"w", {1, 2}}});
    CHECK(fails(load_status(path, plugins), Code::invalid_argument,
                "input 0 has rank 2, the program's 1"));
    CHECK(fails(load_status(folder.path("no.pte"), plugins), Code::not_found, "no.pte"));
  }
}
