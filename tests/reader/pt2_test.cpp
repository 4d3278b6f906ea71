// Files that PyTorch wrote, read as its exporter meant them. tests/data/make/pt2.py is what they
// hold.
#include "reader/pt2.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reader/archive.hpp"
#include "zip_writer.hpp"

using namespace backplane;

namespace {

Module read(const std::string& name) {
  auto module = read_pt2("pt2/" + name + ".pt2");
  REQUIRE_MESSAGE(module.ok(), module.error().message);
  const Status good = verify(*module);
  REQUIRE_MESSAGE(good.ok(), good.error().message);
  CHECK(refuse_unknown(*module).ok());
  return *std::move(module);
}

const Constant& constant(const Module& module, std::string_view fqn) {
  for (const Constant& c : module.constants) {
    if (c.fqn == fqn) return c;
  }
  REQUIRE_MESSAGE(false, fqn);
  return module.constants.front();
}

const Node& node(const Graph& graph, std::string_view name) {
  for (const Node& n : graph.nodes) {
    if (n.name == name) return n;
  }
  REQUIRE_MESSAGE(false, name);
  return graph.nodes.front();
}

const Argument& argument(const Node& node, std::string_view name) {
  for (const NamedArgument& arg : node.args) {
    if (arg.name == name) return arg.value;
  }
  REQUIRE_MESSAGE(false, name);
  return node.args.front().value;
}

// The elements as multiples of 1/8, row-major.
std::vector<float> eighths(Module& module, std::string_view fqn) {
  const auto bytes = dense_bytes(constant(module, fqn), module.buffers);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (float& value : values) value *= 8;
  return values;
}

const Value& output(const Graph& graph, size_t index) {
  return graph.value(std::get<ValueRef>(graph.outputs[index].value).id);
}

}  // namespace

TEST_SUITE("core/reader/pt2") {
  TEST_CASE("weights are what was saved, in every layout") {
    for (const char* name : {"weights", "weights_saved", "weights_flat"}) {
      CAPTURE(name);
      Module module = read(name);
      const std::vector<float> row = {9, 10, 11, 12, 13, 14, 15, 16, 17};
      CHECK(eighths(module, "row") == row);
      const std::vector<float> turned = {27, 30, 33, 28, 31, 34, 29, 32, 35};
      CHECK(eighths(module, "turned") == turned);
      CHECK(constant(module, "turned").strides == std::vector<int64_t>{1, 3});
      CHECK(eighths(module, "scratch") == std::vector<float>{0, 1, 2});
      CHECK_FALSE(constant(module, "scratch").persistent);
      CHECK(constant(module, "row").persistent);
      CHECK(constant(module, "empty").sizes == std::vector<int64_t>{0, 4});
      CHECK(constant(module, "small").dtype == DType::bf16);
      CHECK(constant(module, "tiny").dtype == DType::f8e4m3fn);
      // 1/8 and 2/8 in float8_e4m3fn: exponents 4 and 5 above a bias of 7, no mantissa.
      const auto tiny = dense_bytes(constant(module, "tiny"), module.buffers);
      CHECK(tiny[1] == std::byte{4 << 3});
      CHECK(tiny[2] == std::byte{5 << 3});
    }
  }

  TEST_CASE("tied weights and views of one storage share their bytes") {
    for (const char* name : {"weights", "weights_saved", "weights_flat"}) {
      CAPTURE(name);
      const Module module = read(name);
      const Constant& head = constant(module, "head.weight");
      CHECK(head.storage.data() == constant(module, "embed.weight").storage.data());
      CHECK(head.is_parameter);
      CHECK(constant(module, "row").storage.data() == constant(module, "turned").storage.data());
      CHECK(constant(module, "row").storage_offset == 9);
      CHECK(constant(module, "turned").storage_offset == 27);
    }
  }

  TEST_CASE("raw weights lie in the bytes that were read, unless they are packed") {
    const std::string file = testing::read_whole("pt2/weights.pt2");
    auto archive = Archive::open(testing::bytes_of(file));
    REQUIRE(archive.ok());
    std::vector<testing::ZipEntry> entries;
    Buffers buffers;
    for (const ArchiveEntry& entry : archive->entries()) {
      const auto bytes = archive->read(entry, buffers);
      REQUIRE(bytes.ok());
      entries.push_back({.name = std::string(entry.name),
                         .data = std::string(testing::text_of(*bytes)),
                         .deflate = true});
    }
    const std::string packed = testing::make_zip(entries);
    for (const std::string* bytes : {&file, &packed}) {
      // A string's bytes are aligned to 16, PyTorch's storages to 64 in the file.
      auto module = read_pt2(testing::bytes_of(*bytes));
      REQUIRE(module.ok());
      const auto* storage = reinterpret_cast<const char*>(constant(*module, "row").storage.data());
      const bool inside = storage > bytes->data() && storage < bytes->data() + bytes->size();
      CHECK(inside == (bytes == &file));
      CHECK(eighths(*module, "row").front() == 9);
    }
  }

  TEST_CASE("nodes say which module and line they are from, users' lines before PyTorch's") {
    const Module module = read("weights");
    CHECK(describe(node(module.root(), "embedding")).find(" (embed, pt2.py:") != std::string::npos);
    CHECK(node(module.root(), "linear").origin.module_path == "head");
    CHECK(node(module.root(), "linear").origin.source.ends_with(" in forward"));
    CHECK(node(module.root(), "add").origin.module_path.empty());
  }

  TEST_CASE("sizes are expressions of symbols with their ranges") {
    Module module = read("sizes");
    const Graph& graph = module.root();
    SymbolTable& symbols = module.symbols;
    const SymInt rows = graph.value(graph.inputs[0].value).type.sizes[0];
    const SymInt width = graph.value(graph.inputs[1].value).type.sizes[1];
    CHECK(symbols.range(rows) == Range{4, 16});
    CHECK(symbols.range(width) == Range{4, 100});
    CHECK(symbols.hint(rows) == 6);
    CHECK(symbols.mul(output(graph, 0).type.sizes[0], 2) == rows);
    CHECK(symbols.range(output(graph, 1).type.sizes[2]) == Range{6, 170});
    CHECK(symbols.hint(output(graph, 1).type.sizes[2]) == 8);
    CHECK(symbols.range(output(graph, 2).type.sizes[0]) == Range{0, 16});
    CHECK(output(graph, 3).type.sizes[0] == symbols.add(rows, width));
    const Value& half = graph.value(node(graph, "floordiv").outputs[0]);
    CHECK(half.kind == ValueKind::sym_int);
    CHECK(half.has_expr);
    CHECK(symbols.mul(half.expr, 2) == rows);
    CHECK(node(graph, "floordiv").op == "sym::floordiv");
  }

  TEST_CASE("bodies are graphs of the module, with values of their own") {
    const Module module = read("branches");
    const Graph& root = module.root();
    REQUIRE(module.graphs.size() == 5);
    const Node& cond = node(root, "cond");
    CHECK(cond.op == "higher_order::cond");
    const auto* then = std::get_if<GraphRef>(&cond.args[1].value);
    REQUIRE(then != nullptr);
    const Graph& body = *module.graphs[static_cast<size_t>(then->index)];
    CHECK(body.nodes.at(0).op == "aten::linear");
    CHECK(body.inputs.size() == 3);
    const auto* operands = std::get_if<ValueList>(&cond.args[3].value);
    REQUIRE(operands != nullptr);
    CHECK(root.value(operands->ids.at(1)).role == Role::parameter);
    CHECK(node(root, "while_loop").outputs.size() == 2);
  }

  TEST_CASE("what a program writes is among its outputs") {
    const Module module = read("state");
    const Graph& graph = module.root();
    REQUIRE(graph.outputs.size() == 6);
    const Output::Kind mutation = Output::Kind::buffer_mutation;
    CHECK(graph.outputs[0].kind == mutation);
    CHECK(graph.outputs[0].target == "count");
    CHECK(graph.outputs[1].kind == mutation);
    CHECK(graph.outputs[1].target == "last");
    CHECK(graph.outputs[2].kind == Output::Kind::input_mutation);
    CHECK(graph.outputs[2].target == graph.inputs.at(0).name);
    CHECK(graph.outputs[3].kind == Output::Kind::user);
    CHECK(std::holds_alternative<None>(graph.outputs[4].value));
    CHECK(std::get<int64_t>(graph.outputs[5].value) == 7);
    CHECK(graph.inputs.size() == 1);
  }

  TEST_CASE("numbers that are not finite are read in both spellings") {
    for (const char* name : {"literals", "literals_flat"}) {
      CAPTURE(name);
      const Module module = read(name);
      const Graph& graph = module.root();
      CHECK(std::get<double>(argument(node(graph, "clamp"), "max")) == INFINITY);
      CHECK(std::get<double>(argument(node(graph, "where"), "other")) == -INFINITY);
      CHECK(std::isnan(std::get<double>(argument(node(graph, "full_like"), "fill_value"))));
      CHECK(std::get<double>(argument(node(graph, "nan_to_num"), "neginf")) == -1e30);
    }
  }

  TEST_CASE("arguments are of the kinds that the program has") {
    const Module module = read("literals");
    const Graph& graph = module.root();
    const auto& indices = std::get<ValueList>(argument(node(graph, "index"), "indices"));
    REQUIRE(indices.ids.size() == 2);
    CHECK(indices.ids[0] == kNone);
    CHECK(graph.value(indices.ids[1]).name == "i");
    const Node& split = *std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) {
      return n.op == "aten::split_with_sizes";
    });
    CHECK(split.outputs.size() == 3);
    CHECK(std::get<IntList>(argument(split, "split_sizes")) == IntList{{1}, {1}, {1}});
    CHECK(std::get<std::string>(argument(node(graph, "div"), "rounding_mode")) == "floor");
    CHECK(std::get<DType>(argument(node(graph, "to"), "dtype")) == DType::f64);
    CHECK(std::get<MemoryFormat>(argument(node(graph, "to_1"), "memory_format")) ==
          MemoryFormat::channels_last);
    CHECK(std::get<DeviceArg>(argument(node(graph, "to_1"), "device")).type == "cpu");
    CHECK(std::get<Layout>(argument(node(graph, "to_1"), "layout")) == Layout::strided);
    CHECK(output(graph, 1).type.strides == std::vector<SymInt>{12, 1, 6, 3});
  }
}
