// Equal nodes are found by their text: operator, arguments and result types as bytes.
#include <cstring>
#include <unordered_map>

#include "passes/bodies.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace backplane::passes {
namespace {

class Key {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void add(const T& value) {
    const auto at = text_.size();
    text_.resize(at + sizeof(T));
    std::memcpy(text_.data() + at, &value, sizeof(T));
  }
  void add(std::string_view text) {
    add(text.size());
    text_ += text;
  }
  template <class T>
  void add_all(const std::vector<T>& values) {
    add(values.size());
    for (const auto& value : values) {
      if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                    std::is_same_v<T, std::vector<double>>) {
        add_all(value);
      } else if constexpr (std::is_same_v<T, std::string>) {
        add(std::string_view(value));
      } else if constexpr (std::is_same_v<T, bool>) {
        add(static_cast<bool>(value));
      } else {
        add(value);
      }
    }
  }
  void add_size(SymInt size) {
    add(size.index());
    add(size.is_constant() ? size.constant() : int64_t{0});
  }
  void add_argument(const Argument& argument);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;

void Key::add_argument(const Argument& argument) {
  add(argument.index());
  std::visit(
      [this](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, None>) {
        } else if constexpr (std::is_same_v<T, ValueList>) {
          add_all(value.ids);
        } else if constexpr (std::is_same_v<T, IntList>) {
          add(value.size());
          for (const IntElement& e : value) {
            add(e.literal);
            add(e.value);
          }
        } else if constexpr (std::is_same_v<T, std::string>) {
          add(std::string_view(value));
        } else if constexpr (std::is_same_v<T, DeviceArg>) {
          add(std::string_view(value.type));
          add(value.index);
        } else if constexpr (std::is_same_v<T, UnknownArgument>) {
          add(std::string_view(value.tag));
        } else if constexpr (kIsVector<T>) {
          add_all(value);
        } else {
          add(value);
        }
      },
      argument);
}

bool may_merge(const Node& node) {
  if (node.outputs.empty()) return false;
  if (node.schema == nullptr) return node.op.starts_with("sym::");
  return !node.schema->random && !node.schema->mutates();
}

std::string key_of(const Graph& graph, const Node& node) {
  Key key;
  key.add(std::string_view(node.op));
  for (const NamedArgument& arg : node.args) {
    key.add(arg.name);
    key.add_argument(arg.value);
  }
  for (ValueId id : node.outputs) {
    key.add(id == kNone);
    if (id == kNone) continue;
    const Value& value = graph.value(id);
    key.add(value.kind);
    key.add(value.type.dtype);
    key.add(value.type.sizes.size());
    for (SymInt size : value.type.sizes) key.add_size(size);
    for (SymInt stride : value.type.strides) key.add_size(stride);
  }
  return key.take();
}

Status merge_in(Module& module, Graph& graph, const ops::Table& table) {
  Rewriter r(module, graph, table);
  std::unordered_map<std::string, std::vector<ValueId>> seen;
  BP_TRY(r.walk([&](Node& node) -> Status {
    if (!may_merge(node)) return r.keep(std::move(node));
    const auto [first, is_new] = seen.try_emplace(key_of(graph, node), node.outputs);
    if (is_new) return r.keep(std::move(node));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNone) r.replace(node.outputs[i], ValueRef{first->second[i]});
    }
    return r.status();
  }));
  return r.finish();
}

}  // namespace

Status merge_common_subexpressions(Module& module, const ops::Table& table) {
  for (const std::unique_ptr<Graph>& graph : module.graphs) {
    BP_TRY(merge_in(module, *graph, table));
  }
  return Ok{};
}

}  // namespace backplane::passes
