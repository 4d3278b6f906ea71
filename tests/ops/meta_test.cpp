#include <doctest/doctest.h>

#include <charconv>
#include <fstream>
#include <map>
#include <random>

#include "ops/meta.hpp"
#include "ops/schema.hpp"

namespace backplane::ops {
namespace {

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(by), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

DType dtype_called(std::string_view name) {
  for (int64_t i = 0; i < 64; ++i) {
    const std::optional<DType> dtype = dtype_from_number(i);
    if (dtype && name_of(*dtype) == name) return *dtype;
  }
  FAIL("dtype ", name);
  return DType::f32;
}

// One call of make/meta.py's table, as a graph of one node.
struct Call {
  Module module;
  Graph graph;
  Node node;
  std::map<int64_t, SymInt> symbols;  // by size, where sizes are symbolic
  bool is_symbolic = false;

  SymInt size(int64_t value) {
    if (!is_symbolic || value < 2) return value;
    const auto [found, is_new] = symbols.try_emplace(value, 0);
    if (is_new) {
      found->second = module.symbols.symbol("s" + std::to_string(value));
      module.symbols.info(module.symbols.num_symbols() - 1).range = {2, 1000};
    }
    return found->second;
  }

  ValueId tensor(std::string_view text) {  // DTYPE:SIZES
    const size_t colon = text.find(':');
    Value value;
    value.type.dtype = dtype_called(text.substr(0, colon));
    for (const std::string& s : split(text.substr(colon + 1), ',')) {
      value.type.sizes.push_back(size(std::stoll(s)));
    }
    return graph.add_value("x", std::move(value));
  }

  Argument argument(std::string_view text) {
    const std::string body(text.substr(std::min<size_t>(2, text.size())));
    switch (text[0]) {
      case 'T':
        return ValueRef{tensor(body)};
      case 'L': {
        ValueList list;
        for (const std::string& element : split(body, '|')) {
          list.ids.push_back(element == "N" ? kNone : tensor(element.substr(2)));
        }
        return list;
      }
      case 'I': {
        IntList list;
        for (const std::string& element : split(body, ',')) list.push_back({std::stoll(element)});
        return list;
      }
      case 'F': {
        std::vector<double> list;
        for (const std::string& element : split(body, ',')) list.push_back(std::stod(element));
        return list;
      }
      case 'i':
        return int64_t{std::stoll(body)};
      case 'f':
        return std::stod(body);
      case 'b':
        return body == "1";
      case 's':
        return body;
      case 'D':
        return dtype_called(body);
      default:
        return None{};
    }
  }

  Call(const Table& table, std::string_view op, std::string_view arguments, bool symbolic)
      : is_symbolic(symbolic) {
    node.op = op;
    node.schema = table.find(op);
    REQUIRE_MESSAGE(node.schema != nullptr, op);
    for (const std::string& text : split(arguments, ';')) {
      const size_t equals = text.find('=');
      const int index = node.schema->index_of(text.substr(0, equals));
      REQUIRE(index >= 0);
      node.args.push_back({node.schema->parameters[static_cast<size_t>(index)].name,
                           argument(std::string_view(text).substr(equals + 1))});
    }
  }

  // What was inferred, with each symbol at its size, as the table writes results.
  std::string results(const std::vector<Value>& values) {
    SymbolValues given(module.symbols.num_symbols());
    for (const auto& [value, symbol] : symbols) given[*module.symbols.as_symbol(symbol)] = value;
    std::string text;
    for (const Value& value : values) {
      if (&value != values.data()) text += ";";
      if (value.kind == ValueKind::sym_int) {
        text += "i:" + std::to_string(module.symbols.evaluate(value.expr, given).value_or(-1));
        continue;
      }
      text += std::string(name_of(value.type.dtype)) + ":";
      for (const SymInt& s : value.type.sizes) {
        if (&s != value.type.sizes.data()) text += ",";
        text += std::to_string(module.symbols.evaluate(s, given).value_or(-1));
      }
    }
    return text;
  }
};

struct Row {
  std::string op, arguments, results;
};

std::vector<Row> rows() {
  std::vector<Row> result;
  std::ifstream file("ops/meta.txt");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = split(line, '\t');
    REQUIRE(fields.size() >= 2);
    result.push_back({fields[0], fields[1], fields.size() > 2 ? fields[2] : ""});
  }
  return result;
}

}  // namespace

TEST_SUITE("core/meta") {
  TEST_CASE("results have the sizes and dtypes that torch gives them") {
    const Table table;
    const std::vector<Row> all = rows();
    CHECK(all.size() > 900);
    for (const Row& row : all) {
      Call call(table, row.op, row.arguments, false);
      const Result<std::vector<Value>> inferred = infer(call.module, call.graph, call.node);
      INFO(row.op, " ", row.arguments);
      CHECK_MESSAGE(inferred.ok(), inferred.error().message);
      if (inferred.ok()) CHECK(call.results(*inferred) == row.results);
    }
  }

  TEST_CASE("symbolic sizes have the value that torch gives, where symbols have their values") {
    const Table table;
    int compared = 0;
    for (const Row& row : rows()) {
      Call call(table, row.op, row.arguments, true);
      // How many parts there are is then the caller's to say.
      call.node.outputs.resize(split(row.results, ';').size());
      const Result<std::vector<Value>> inferred = infer(call.module, call.graph, call.node);
      INFO(row.op, " ", row.arguments);
      if (!inferred.ok()) {
        CHECK_MESSAGE(inferred.error().code == Code::unsupported, inferred.error().message);
        continue;
      }
      ++compared;
      CHECK(call.results(*inferred) == row.results);
    }
    CHECK(compared > 900);
  }

  TEST_CASE("promotion is torch's for each pair of dtypes") {
    std::ifstream file("ops/promotion.txt");
    int pairs = 0;
    for (std::string line; std::getline(file, line); ++pairs) {
      const std::vector<std::string> fields = split(line, ' ');
      const std::optional<DType> both = promote(dtype_called(fields[0]), dtype_called(fields[1]));
      CHECK_MESSAGE((both ? name_of(*both) : "none") == fields[2], line);
    }
    CHECK(pairs == 21 * 21);
  }

  TEST_CASE("arguments that don't fit are refused or give sizes that can be") {
    const Table table;
    std::mt19937 random(4);
    const auto pick = [&](size_t n) { return random() % n; };
    constexpr int64_t kNumbers[] = {0, 1,    2,       3,         -1,        -2,
                                    7, -100, 1 << 20, INT64_MAX, INT64_MIN, INT64_MAX / 2};
    const auto number = [&] { return kNumbers[pick(std::size(kNumbers))]; };
    int refused = 0;
    for (int round = 0; round < 10; ++round) {
      for (const Row& row : rows()) {
        Call call(table, row.op, row.arguments, round % 2 == 1);
        Graph& graph = call.graph;
        if (pick(2) == 0 && !graph.values.empty()) {
          std::vector<SymInt>& sizes = graph.values[pick(graph.values.size())].type.sizes;
          sizes.resize(pick(5), SymInt(static_cast<int64_t>(pick(4))));
        }
        for (NamedArgument& arg : call.node.args) {
          if (pick(3) != 0) continue;
          if (auto* list = std::get_if<IntList>(&arg.value); list != nullptr && pick(2) == 0) {
            list->resize(pick(5));
            for (IntElement& e : *list) e.literal = number();
          } else if (std::holds_alternative<int64_t>(arg.value)) {
            arg.value = number();
          } else if (auto* tensors = std::get_if<ValueList>(&arg.value)) {
            tensors->ids.resize(pick(4), kNone);
          } else if (pick(4) == 0) {
            arg.value = pick(2) == 0 ? Argument(None{}) : Argument(std::string("x"));
          }
        }
        const Result<std::vector<Value>> inferred = infer(call.module, graph, call.node);
        refused += !inferred.ok();
        if (!inferred.ok()) continue;
        for (const Value& value : *inferred) {
          for (const SymInt s : value.type.sizes) CHECK((!s.is_constant() || s.constant() >= 0));
        }
      }
    }
    CHECK(refused > 1000);
  }
}

}  // namespace backplane::ops
