#include "loaded.hpp"

namespace backplane::test {

Loaded load(const std::string& path, TestPlugins& plugins, const std::string& name) {
  auto program = Program::load(path, plugins);
  if (!program.ok()) FAIL(program.error().message);
  auto session = program->session();
  if (!session.ok()) FAIL(session.error().message);
  auto method = session->method(name);
  if (!method.ok()) FAIL(method.error().message);
  return {std::move(program).value(), std::move(session).value(), std::move(method).value()};
}

Loaded load(MethodBuilder& builder, TestPlugins& plugins, const TemporaryFolder& folder) {
  ProgramFile file;
  file.add(builder);
  return load(file.write(folder), plugins);
}

Status give(Method& method, size_t index, std::vector<float>& data, std::vector<int64_t> sizes) {
  return method.set_input(index, TensorView::contiguous(data.data(), DType::f32, std::move(sizes)));
}

Status run(Method& method, std::vector<float>& data, std::vector<int64_t> sizes) {
  BP_TRY(give(method, 0, data, std::move(sizes)));
  return method.execute();
}

std::vector<float> floats(const TensorView& view) {
  REQUIRE(view.dtype == DType::f32);
  REQUIRE(view.device.is_host());
  REQUIRE(view.is_contiguous());
  const auto* data = static_cast<const float*>(view.data);
  return {data, data + view.numel()};
}

std::vector<float> floats(const Method& method, size_t index) {
  auto view = method.output(index);
  if (!view.ok()) FAIL(view.error().message);
  return floats(*view);
}

bool fails(const Status& status, Code code, const std::string& text) {
  if (status.ok()) {
    MESSAGE("succeeded, '" << text << "' was expected");
    return false;
  }
  const bool found = status.error().message.find(text) != std::string::npos;
  if (!found || status.error().code != code) {
    MESSAGE("code " << static_cast<int>(status.error().code) << ": " << status.error().message);
  }
  return found && status.error().code == code;
}

}  // namespace backplane::test
