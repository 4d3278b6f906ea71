#include "passes/bind.hpp"

#include <doctest/doctest.h>

#include "graph_builder.hpp"

using namespace backplane;

TEST_SUITE_BEGIN("core/passes");

namespace {

Status bind(const ops::Table& table, std::string_view op, std::vector<NamedArgument> args,
            Node* bound = nullptr) {
  Node node;
  node.op = op;
  node.schema = table.find(op);
  REQUIRE(node.schema != nullptr);
  node.args = std::move(args);
  Status status = passes::bind_arguments(node);
  if (bound != nullptr) *bound = std::move(node);
  return status;
}

}  // namespace

TEST_CASE("arguments come into the schema's order and kinds") {
  const ops::Table table;
  Node node;
  REQUIRE(bind(table, "aten::conv2d",
               {{"weight", ValueRef{1}}, {"input", ValueRef{0}}, {"stride", IntList{{2, kNone}}}},
               &node)
              .ok());
  REQUIRE(node.args.size() == 7);
  CHECK(node.args[0].value == Argument(ValueRef{0}));
  CHECK(node.args[2].name == "bias");
  CHECK(node.args[2].value == Argument(None{}));
  CHECK(node.args[3].value == Argument(IntList{{2, kNone}, {2, kNone}}));
  CHECK(node.args[6].value == Argument(int64_t{1}));

  REQUIRE(
      bind(table, "aten::add.Tensor", {{"self", ValueRef{0}}, {"other", int64_t{3}}}, &node).ok());
  CHECK(node.args[1].value == Argument(int64_t{3}));  // a wrapped number stays one

  REQUIRE(bind(table, "aten::cat", {{"tensors", IntList{}}}, &node).ok());
  CHECK(node.args[0].value == Argument(ValueList{}));

  REQUIRE(bind(table, "aten::dropout",
               {{"input", ValueRef{0}}, {"p", int64_t{1}}, {"train", int64_t{0}}}, &node)
              .ok());
  CHECK(node.args[1].value == Argument(1.0));
  CHECK(node.args[2].value == Argument(false));
}

TEST_CASE("arguments that the schema doesn't allow are refused by name") {
  const ops::Table table;
  const struct {
    std::string_view op;
    std::vector<NamedArgument> args;
    Code code;
    std::string_view says;
  } cases[] = {
      {"aten::relu", {{"self", ValueRef{0}}, {"slope", 0.1}}, Code::invalid_argument, "slope"},
      {"aten::relu", {}, Code::invalid_argument, "'self' is missing"},
      {"aten::relu",
       {{"self", ValueRef{0}}, {"self", ValueRef{0}}},
       Code::invalid_argument,
       "twice"},
      {"aten::relu", {{"self", std::string("x")}}, Code::invalid_argument, "'self' is of a kind"},
      {"aten::softmax.int",
       {{"self", ValueRef{0}}, {"dim", 1.5}},
       Code::invalid_argument,
       "'dim' is of a kind"},
      {"aten::softmax.int",
       {{"self", ValueRef{0}}, {"dim", None{}}},
       Code::invalid_argument,
       "'dim' can't be None"},
      {"aten::relu", {{"self", UnknownArgument{"as_magic"}}}, Code::unsupported, "as_magic"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.says);
    const Status status = bind(table, c.op, c.args);
    REQUIRE(!status.ok());
    CHECK(status.error().code == c.code);
    CHECK(status.error().message.find(c.says) != std::string::npos);
  }
}

TEST_SUITE_END();
