// Loads a program of a test and talks to it in vectors of float.
#pragma once

#include <doctest/doctest.h>

#include <backplane/program.hpp>
#include <string>
#include <utility>
#include <vector>

#include "program_builder.hpp"
#include "test_plugins.hpp"

namespace backplane::test {

struct Loaded {
  Program program;
  Session session;
  Method method;
};

// Fails the test with the error's text.
Loaded load(const std::string& path, TestPlugins& plugins, const std::string& name = "forward");
// A program of this one method.
Loaded load(MethodBuilder& builder, TestPlugins& plugins, const TemporaryFolder& folder);

Status give(Method& method, size_t index, std::vector<float>& data, std::vector<int64_t> sizes);
// Gives input 0 and executes.
Status run(Method& method, std::vector<float>& data, std::vector<int64_t> sizes);
// Output `index`, which must be dense float32 in host memory.
std::vector<float> floats(const Method& method, size_t index);
std::vector<float> floats(const TensorView& view);

// Whether the status failed with that code and text in its message; prints what it has if not.
bool fails(const Status& status, Code code, const std::string& text);

}  // namespace backplane::test
