// Programs that are wrong, or use what is not known: refused, or read over, for the right reason.
#include <doctest/doctest.h>

#include "reader/pt2.hpp"
#include "sample_program.hpp"

using namespace backplane;
using namespace backplane::testing;

namespace {

// Replaces the first `from`, which must be there.
void replace(std::string& text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  text.replace(at, from.size(), to);
}

// What reading says, and then, if that is nothing, what refuse_unknown says.
std::string refusal(const SampleProgram& sample, const ReadOptions& options = {}) {
  const std::string file = sample.file();
  const auto module = read_pt2(bytes_of(file), options);
  if (!module.ok()) return module.error().message;
  REQUIRE(verify(*module).ok());
  const Status known = refuse_unknown(*module);
  return known.ok() ? "" : known.error().message;
}

struct Change {
  const char* what;
  const char* from;
  const char* to;
  const char* message;  // part of it; empty: it must be read
};

void check(std::span<const Change> changes, std::string SampleProgram::*part) {
  for (const Change& change : changes) {
    CAPTURE(change.what);
    SampleProgram sample;
    replace(sample.*part, change.from, change.to);
    const std::string message = refusal(sample);
    if (*change.message == '\0') {
      CHECK(message == "");
    } else {
      CHECK_MESSAGE(message.find(change.message) != std::string::npos, message);
    }
  }
}

}  // namespace

TEST_SUITE("core/reader/pt2 refusals") {
  TEST_CASE("the sample itself is read, unknown keys and all") {
    CHECK(refusal({}) == "");
  }

  TEST_CASE("programs that are wrong are refused with the reason") {
    const Change changes[] = {
        {"no JSON", "{\"graph_module\"", "[\"graph_module\"", "malformed JSON"},
        {"no graph", "\"graph_module\"", "\"something\"", "no graph_module"},
        {"major version", "\"major\": 8", "\"major\": 9", "schema version 9"},
        {"no version", "schema_version", "version", "no schema_version"},
        {"undefined value", R"({"name": "sum"}}, "kind")", R"({"name": "who"}}, "kind")",
         "uses 'who', which nothing makes"},
        {"late value", R"({"name": "x"}}, "kind")", R"({"name": "y"}}, "kind")",
         "uses 'y', which is made only later"},
        {"made twice", R"([{"as_tensor": {"name": "u"}}])", R"([{"as_tensor": {"name": "sum"}}])",
         "'sum' is made twice"},
        {"an input made", R"([{"as_tensor": {"name": "u"}}])", R"([{"as_tensor": {"name": "x"}}])",
         "'x' is made twice"},
        {"output of nothing", R"("outputs": [{"as_tensor": {"name": "y"}}],
  "nodes")",
         R"("outputs": [{"as_tensor": {"name": "z"}}], "nodes")", "'z', which nothing makes"},
        {"two kinds", R"("arg": {"as_int": 2})", R"("arg": {"as_int": 2, "as_bool": true})",
         "not two"},
        {"no kind", R"("arg": {"as_int": 2})", R"("arg": {})", "not none"},
        {"no integer", R"("arg": {"as_int": 2})", R"("arg": {"as_int": 2.5})", "integer"},
        {"large integer", R"("arg": {"as_int": 2})", R"("arg": {"as_int": 9223372036854775808})",
         "integer"},
        {"no target", R"("target": "torch.ops.aten.relu.default")", R"("t": 1)", "no target"},
        {"negative size", R"("x": {"dtype": 7, "sizes": [{"as_int": 4}])",
         R"("x": {"dtype": 7, "sizes": [{"as_int": -4}])", "a size is negative"},
        {"huge size", R"("x": {"dtype": 7, "sizes": [{"as_int": 4}])",
         R"("x": {"dtype": 7, "sizes": [{"as_int": 4611686018427387904}])", "too large"},
        {"bad expression", R"("x": {"dtype": 7, "sizes": [{"as_int": 4}])",
         R"("x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Add(", "hint": null}}])",
         "symbolic expression 'Add('"},
        {"two types", R"("x": {"dtype": 7)", R"("y": {"dtype": 7)", "two types"},
        {"empty range", R"("range_constraints": {})",
         R"("range_constraints": {"s0": {"min_val": 3, "max_val": 2}})", "range"},
        {"one spec too few", R"(,
    {"user_input": {"arg": {"as_tensor": {"name": "x"}}}})",
         "", "1 and 2 inputs"},
        {"another weight's spec", R"({"arg": {"name": "p_w"})", R"({"arg": {"name": "p_v"})",
         "parameter 'w' is not input 0"},
        {"no such weight", R"("parameter_name": "w")", R"("parameter_name": "v")",
         "parameter 'v': it is not in the file"},
        {"unknown spec", R"({"user_input")", R"({"oracle_input")", "kind 'oracle_input'"},
        {"gradients", R"({"user_output": {)", R"({"gradient_to_parameter": {"p": 1, )",
         "gradients"},
        {"write of no buffer", R"({"user_output": {)",
         R"({"buffer_mutation": {"buffer_name": "b", )", "'b' is written"},
        {"write of no input", R"({"user_output": {)",
         R"({"user_input_mutation": {"user_input_name": "b", )", "'b' is written"},
        {"a weight of another shape", R"("p_w": {"dtype": 7, "sizes": [{"as_int": 4}])",
         R"("p_w": {"dtype": 7, "sizes": [{"as_int": 5}])", "another type or shape"},
        {"a weight of another type", R"("p_w": {"dtype": 7)", R"("p_w": {"dtype": 4)",
         "another type or shape"},
    };
    check(changes, &SampleProgram::program);
  }

  TEST_CASE("what is not known is refused where it is used, and only there") {
    const Change changes[] = {
        {"unused type", R"("u": {"dtype": 7)", R"("u": {"dtype": 99)", ""},
        {"used type", R"("sum": {"dtype": 7)", R"("sum": {"dtype": 99)",
         "aten::relu 'y': argument 'self' is 'sum', which has element type 99"},
        {"used layout", R"("storage_offset": {"as_int": 0}, "layout": 7}, "u")",
         R"("storage_offset": {"as_int": 0}, "layout": 1}, "u")", "layout 1"},
        {"no type", R"("sum": {"dtype")", R"("mus": {"dtype")", "'sum', which has no type"},
        {"type of an output", R"("y": {"dtype": 7)", R"("y": {"dtype": 99)", "output 0 is 'y'"},
        {"type of an input", R"("x": {"dtype": 7)", R"("x": {"dtype": 99)", "element type 99"},
        {"strides missing", R"("sum": {"dtype": 7, "sizes": [{"as_int": 4}])",
         R"("sum": {"dtype": 7, "sizes": [{"as_int": 4}, {"as_int": 1}])", "sizes and strides"},
        {"kind of an argument", R"("arg": {"as_int": 2})", R"("arg": {"as_future": [{"a": [1]}]})",
         "argument 'other' is as_future"},
        {"scalar type", R"("arg": {"as_int": 2})", R"("arg": {"as_scalar_type": 77})",
         "element type 77"},
        {"memory format", R"("arg": {"as_int": 2})", R"("arg": {"as_memory_format": 9})",
         "memory format 9"},
        {"two kinds of a value", R"("arg": {"as_int": 2})",
         R"("arg": {"as_sym_int": {"as_name": "x"}})", "'x', which is a tensor in one place"},
    };
    check(changes, &SampleProgram::program);
  }

  TEST_CASE("weights that can't be used are refused by name") {
    const Change changes[] = {
        {"pickle", R"("use_pickle": false)", R"("use_pickle": true)",
         "parameter 'w': it is stored"},
        {"no type", R"("tensor_meta": {)", R"("tensor_meta": null, "old": {)", "Python object"},
        {"missing data", "weight_0", "weight_1", "data/weights/weight_1' is missing"},
        {"too long", R"([{"as_int": 4}])", R"([{"as_int": 5}])", "needs 20 bytes"},
        {"too far", R"("storage_offset": {"as_int": 0})", R"("storage_offset": {"as_int": 1})",
         "needs 20 bytes"},
        {"stride", R"("strides": [{"as_int": 1}])", R"("strides": [{"as_int": 2}])",
         "needs 28 bytes"},
        {"amplified", R"("sizes": [{"as_int": 4}])",
         R"("sizes": [{"as_int": 4}, {"as_int": 1000000000000}])", "sizes"},
        {"unknown type", R"("dtype": 7)", R"("dtype": 99)", "element type 99"},
        {"sparse", R"("layout": 7)", R"("layout": 1)", "layout 1"},
        {"symbolic", R"([{"as_int": 4}])", R"([{"as_expr": {"expr_str": "s0", "hint": null}}])",
         "not numbers"},
        {"no JSON", R"({"config")", R"(["config")", "malformed JSON"},
    };
    check(changes, &SampleProgram::weights);
    SampleProgram sample;
    sample.storage = "";
    CHECK(refusal(sample).find("exported without real weights") != std::string::npos);
    // Nobody uses it: then it does no harm.
    replace(sample.program, R"("arg": {"as_tensor": {"name": "p_w"}})", R"("arg": {"as_int": 2})");
    CHECK(refusal(sample) == "");
  }

  TEST_CASE("the archive says what it is, and several models are listed") {
    const auto with = [](size_t index, const char* data) {
      SampleProgram sample;
      sample.others[index].data = data;
      return refusal(sample);
    };
    CHECK(with(0, "pt3").find("archive_format is 'pt3'") != std::string::npos);
    CHECK(with(1, "1").find("archive_version is '1'") != std::string::npos);
    CHECK(with(2, "big").find("byteorder is 'big'") != std::string::npos);
    SampleProgram two;
    two.others.push_back({.name = "m/models/other.json", .data = "{}"});
    CHECK(refusal(two).find("'model', 'other'") != std::string::npos);
    CHECK(refusal(two, {.model = "model"}) == "");
    CHECK(refusal(two, {.model = "none"}).find("no model 'none'") != std::string::npos);
  }

  TEST_CASE("archives of other kinds are told apart") {
    struct Row {
      ZipEntry entry;
      const char* message;
    };
    const Row rows[] = {
        {{.name = "m/data/aotinductor/model/x.so"}, "AOTInductor"},
        {{.name = "m/data.pkl"}, "torch.save"},
        {{.name = "readme.txt"}, "no exported program"},
    };
    for (const Row& row : rows) {
      const std::string file = make_zip({row.entry});
      const auto module = read_pt2(bytes_of(file));
      REQUIRE_FALSE(module.ok());
      CHECK_MESSAGE(module.error().message.find(row.message) != std::string::npos,
                    module.error().message);
    }
    const auto missing = read_pt2("pt2/nothing.pt2");
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.error().code == Code::not_found);
    const auto text = read_pt2("make/pt2.py");
    REQUIRE_FALSE(text.ok());
    CHECK(text.error().message.starts_with("make/pt2.py: not a zip archive"));
  }

  TEST_CASE("bodies nested without end are refused") {
    std::string body = R"({"as_int": 2})";
    for (int i = 0; i < 40; ++i) {
      body = R"({"as_graph": {"name": "g", "graph": {"inputs": [], "outputs": [], "tensor_values":
             {}, "nodes": [{"target": "torch.ops.higher_order.cond", "inputs": [{"name": "",
             "arg": )" +
             body + R"(}], "outputs": [], "metadata": {}}]}}})";
    }
    SampleProgram sample;
    replace(sample.program, R"("arg": {"as_int": 2})", "\"arg\": " + body);
    CHECK(refusal(sample).find("nested too deep") != std::string::npos);
  }
}
