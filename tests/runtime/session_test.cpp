// Sessions: state by name, its resets and copies, the generator, and what lives how long.
#include <thread>

#include "loaded.hpp"

using namespace backplane;
using namespace backplane::test;

namespace {

// "step" adds x to the buffer "count" and gives it back; "peek" gives it alone.
std::string counter(const TemporaryFolder& folder) {
  ProgramFile file;
  const uint32_t initial = file.initial_state({100, 200});
  MethodBuilder step("step");
  const auto x = step.loose({2});
  const auto buffer = step.state({2}, "count", initial);
  const auto sum = step.planned({2});
  step.call("aten::add.out", {buffer, x, step.value(int64_t{1}), sum, sum});
  step.call("aten::copy_", {buffer, sum, step.value(false), buffer});
  step.inputs({x}).outputs({sum});
  MethodBuilder peek("peek");
  const auto same = peek.state({2}, "count", initial);
  peek.outputs({same});
  file.add(step);
  file.add(peek);
  return file.write(folder);
}

Method method(Session& session, const char* name) {
  auto made = session.method(name);
  if (!made.ok()) FAIL(made.error().message);
  return std::move(made).value();
}

std::vector<float> peek(Session& session) {
  Method m = method(session, "peek");
  REQUIRE(m.execute().ok());
  return floats(m, 0);
}

}  // namespace

TEST_SUITE("core/runtime/session") {
  TEST_CASE("methods of a session share a buffer by its name, sessions don't") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto program = Program::load(counter(folder), plugins);
    REQUIRE(program.ok());
    auto a = program->session();
    auto b = program->session();
    Method step = method(*a, "step");
    Method second = method(*a, "step");
    std::vector<float> x{1, 2};
    REQUIRE(run(step, x, {2}).ok());
    REQUIRE(run(second, x, {2}).ok());
    CHECK(floats(second, 0) == std::vector<float>{102, 204});
    CHECK(peek(*a) == std::vector<float>{102, 204});
    CHECK(peek(*b) == std::vector<float>{100, 200});
  }

  TEST_CASE(
      "reset gives the first contents again, a copy has the present ones and goes its own way") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto program = Program::load(counter(folder), plugins);
    auto a = program->session();
    Method step = method(*a, "step");
    std::vector<float> x{1, 2};
    REQUIRE(run(step, x, {2}).ok());
    auto copy = a->copy();
    REQUIRE(copy.ok());
    REQUIRE(run(step, x, {2}).ok());
    CHECK(peek(*copy) == std::vector<float>{101, 202});
    CHECK(peek(*a) == std::vector<float>{102, 204});
    REQUIRE(a->reset().ok());
    CHECK(peek(*a) == std::vector<float>{100, 200});
    CHECK(peek(*copy) == std::vector<float>{101, 202});
  }

  TEST_CASE("a buffer given out is a copy: later executions don't change it") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto program = Program::load(counter(folder), plugins);
    auto session = program->session();
    Method look = method(*session, "peek");
    REQUIRE(look.execute().ok());
    Method step = method(*session, "step");
    std::vector<float> x{1, 2};
    REQUIRE(run(step, x, {2}).ok());
    CHECK(floats(look, 0) == std::vector<float>{100, 200});
  }

  TEST_CASE("a buffer of two sizes in two methods is refused") {
    TemporaryFolder folder;
    TestPlugins plugins;
    ProgramFile file;
    MethodBuilder a("a");
    a.outputs({a.state({2}, "count")});
    MethodBuilder b("b");
    b.outputs({b.state({3}, "count")});
    file.add(a);
    file.add(b);
    auto program = Program::load(file.write(folder), plugins);
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().message.find(
              "buffer 'count' has 12 bytes here and 8 in another method") != std::string::npos);
  }

  TEST_CASE("methods outlive their session and program") {
    TemporaryFolder folder;
    TestPlugins plugins;
    const std::string path = counter(folder);
    auto step = [&] {
      auto program = Program::load(path, plugins);
      auto session = program->session();
      return method(*session, "step");
    }();
    std::vector<float> x{1, 2};
    REQUIRE(run(step, x, {2}).ok());
    CHECK(floats(step, 0) == std::vector<float>{101, 202});
  }

  TEST_CASE("an unknown method is named with those that there are") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto program = Program::load(counter(folder), plugins);
    auto session = program->session();
    const auto none = session->method("forward");
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().code == Code::not_found);
    CHECK(none.error().message.find("has no method 'forward', it has: step, peek") !=
          std::string::npos);
  }

  TEST_CASE("equal seeds give equal random numbers, other seeds others") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto y = b.planned({4});
    b.call("test::random.out", {b.value(int64_t{4}), y, y});
    b.outputs({y});
    ProgramFile file;
    file.add(b);
    auto program = Program::load(file.write(folder), plugins);
    REQUIRE(program.ok());
    const auto draw = [&](uint64_t seed) {
      auto session = program->session();
      session->seed(seed);
      Method m = method(*session, "forward");
      std::vector<float> all;
      for (int round = 0; round < 2; ++round) {
        REQUIRE(m.execute().ok());
        const std::vector<float> some = floats(m, 0);
        all.insert(all.end(), some.begin(), some.end());
      }
      return all;
    };
    const auto first = draw(7);
    CHECK(first == draw(7));
    CHECK(first != draw(8));
    CHECK(std::vector(first.begin(), first.begin() + 4) !=
          std::vector(first.begin() + 4, first.end()));
  }

  TEST_CASE("many methods run at once on threads of their own") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({1000});
    const auto y = b.planned({1000});
    const auto z = b.planned({1000});
    b.call("test::wide.out", {x, y, y});
    b.call("aten::add.out", {y, b.state({1000}, "zeros"), b.value(int64_t{1}), z, z});
    b.inputs({x}).outputs({z});
    ProgramFile file;
    file.add(b);
    auto program = Program::load(file.write(folder), plugins);
    REQUIRE(program.ok());
    auto shared = program->session();
    std::vector<int> wrong(4, -1);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        auto own = program->session();
        auto m = (t % 2 == 0 ? *own : *shared).method("forward");
        std::vector<float> in(1000, static_cast<float>(t));
        wrong[t] = 0;
        for (int round = 0; round < 50; ++round) {
          if (!run(*m, in, {1000}).ok()) ++wrong[t];
          const auto out = m->output(0);
          const auto* data = static_cast<const float*>(out->data);
          for (int i = 0; i < 1000; ++i) wrong[t] += data[i] != 2 * static_cast<float>(t) ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4, 0));
  }
}
