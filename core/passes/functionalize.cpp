#include <algorithm>
#include <unordered_map>

#include "passes/bodies.hpp"
#include "passes/functionalizer.hpp"
#include "passes/names.hpp"
#include "passes/passes.hpp"

namespace backplane::passes {

// Several names of one constant are one memory.
void Functionalizer::share_constants() {
  std::unordered_map<const std::byte*, std::vector<ValueId>> by_storage;
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    if (graph_.values[i].constant == kNone) continue;
    const auto id = static_cast<ValueId>(i);
    const Constant& mine = module_.constants[static_cast<size_t>(graph_.values[i].constant)];
    std::vector<ValueId>& others = by_storage[mine.storage.data()];
    for (ValueId other : others) {
      const Constant& its = module_.constants[static_cast<size_t>(graph_.value(other).constant)];
      if (its.dtype == mine.dtype && its.sizes == mine.sizes && its.strides == mine.strides &&
          its.storage_offset == mine.storage_offset) {
        aliases_.same(id, other);
        break;
      }
    }
    others.push_back(id);
  }
}

void Functionalizer::read_operands(Node& node) {
  const std::string_view name = base_name(node.op);
  const bool shape_only = name.starts_with("sym_") || name == "_assert_tensor_metadata";
  for (NamedArgument& arg : node.args) {
    for_each_value(arg.value, [&](ValueId& id) {
      id = shape_only ? aliases_.shape_of(id).id : aliases_.read(id).id;
    });
  }
}

Status Functionalizer::visit(Node& node) {
  if (!bodies_of(node).empty()) return visit_bodies(node);
  if (node.op == "aten::as_strided" || node.op == "aten::as_strided_copy") {
    return visit_strided(node);
  }
  if (InPlace::writes(node)) return in_place_.rewrite(node);
  std::vector<View> views = views_of(r_, node);
  BP_TRY(r_.status());
  const auto is_same = [](const View& view) { return view.relation == View::Relation::same; };
  const std::vector<ValueId> outputs = node.outputs;
  if (!views.empty() && std::all_of(views.begin(), views.end(), is_same)) {
    for (size_t i = 0; i < views.size(); ++i) aliases_.same(outputs[i], views[i].of);
    return Ok{};
  }
  read_operands(node);
  BP_TRY(r_.status());
  BP_TRY(r_.keep(std::move(node)));
  for (size_t i = 0; i < views.size(); ++i) {
    switch (views[i].relation) {
      case View::Relation::none:
        break;
      case View::Relation::same:
        aliases_.same(outputs[i], views[i].of);
        break;
      case View::Relation::view:
        aliases_.view(outputs[i], views[i].of, std::move(views[i].steps));
        break;
      case View::Relation::unknown:
        aliases_.entangle(outputs[i], views[i].of);
        break;
    }
  }
  return r_.status();
}

// as_strided addresses the memory, so the steps go from the whole: into the order in which its
// elements lie, then by strides.
Status Functionalizer::visit_strided(Node& node) {
  const NodeArgs args = r_.args(node);
  const ValueId operand = args.tensor("self").id;
  BP_TRY(r_.status());
  const ValueId whole = aliases_.whole(operand);
  const TensorType type = r_.type({whole});
  Argument offset = args.raw("storage_offset");
  if (std::holds_alternative<None>(offset)) {
    const auto start = first_element(r_.symbols(), type, aliases_.steps_from_whole(operand));
    if (!start) return r_.fail(Code::unsupported, "its operand is a view whose place is not known");
    offset = r_.integer(*start);
  }
  std::vector<size_t> order(type.sizes.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  if (!type.strides.empty()) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const SymInt x = type.strides[a];
      const SymInt y = type.strides[b];
      return x != y && r_.symbols().known_le(y, x) == true;
    });
  }
  TensorType dense{type.dtype, {}, {}};
  IntList permutation;
  for (size_t d : order) {
    permutation.push_back({static_cast<int64_t>(d), kNone});
    dense.sizes.push_back(type.sizes[d]);
    if (!type.strides.empty()) dense.strides.push_back(type.strides[d]);
  }
  if (has_format(r_.symbols(), dense, MemoryFormat::contiguous) != true) {
    return r_.fail(Code::unsupported, "the memory of '" + graph_.value(whole).name +
                                          "' has gaps or an order that is not known");
  }
  std::vector<ViewStep> steps;
  if (!std::is_sorted(order.begin(), order.end())) {
    steps.push_back({ViewStep::Kind::permute, {std::move(permutation)}, {}});
  }
  steps.push_back({ViewStep::Kind::strided, {args.raw("size"), args.raw("stride"), offset}, {}});
  BP_TRY(r_.status());
  aliases_.view(node.outputs[0], whole, std::move(steps), /*is_there=*/false);
  if (node.op == "aten::as_strided_copy") {
    aliases_.same(node.outputs[0], aliases_.read(node.outputs[0]).id);
  }
  return r_.status();
}

// Memory of constants that partly overlap can't be written: they are stored one by one.
Status Functionalizer::refuse_overlapping() {
  struct Extent {
    int64_t begin;
    int64_t end;
    ValueId value;
  };
  std::unordered_map<const std::byte*, std::vector<Extent>> by_storage;
  for (size_t i = 0; i < num_values_; ++i) {
    const auto id = static_cast<ValueId>(i);
    if (graph_.value(id).constant == kNone || aliases_.whole(id) != id) continue;
    const Constant& c = module_.constants[static_cast<size_t>(graph_.value(id).constant)];
    int64_t last = c.numel() == 0 ? -1 : c.storage_offset;
    for (size_t d = 0; d < c.sizes.size() && last >= 0; ++d)
      last += (c.sizes[d] - 1) * c.strides[d];
    by_storage[c.storage.data()].push_back({c.storage_offset, last + 1, id});
  }
  for (auto& [storage, extents] : by_storage) {
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    for (size_t i = 0; i + 1 < extents.size(); ++i) {
      if (extents[i].end <= extents[i + 1].begin) continue;
      for (size_t j : {i, i + 1}) {
        if (!aliases_.is_written(extents[j].value)) continue;
        return Error{Code::unsupported, "'" + graph_.value(extents[j].value).name +
                                            "' is written and shares part of its memory with '" +
                                            graph_.value(extents[j == i ? i + 1 : i].value).name +
                                            "'"};
      }
      extents[i + 1].end = std::max(extents[i].end, extents[i + 1].end);
    }
  }
  return Ok{};
}

Status Functionalizer::walk() {
  share_constants();
  BP_TRY(r_.walk([this](Node& node) { return visit(node); }));
  for (Output& output : graph_.outputs) {
    for_each_value(output.value, [&](ValueId& id) { id = aliases_.read(id).id; });
  }
  return r_.status();
}

Status Functionalizer::add_mutation(Output::Kind kind, ValueId value, std::string target) {
  if (aliases_.is_spoiled(value)) {
    return Error{Code::unsupported, "'" + target +
                                        "' may share memory that is written, or may not: that "
                                        "depends on sizes; copy it (clone) first"};
  }
  if (aliases_.is_written(value)) {
    mutations_.push_back({kind, aliases_.read(value), std::move(target)});
  }
  return r_.status();
}

Status Functionalizer::run_method() {
  BP_TRY(walk());
  BP_TRY(refuse_overlapping());
  for (size_t i = 0; i < num_values_; ++i) {
    const int32_t constant = graph_.values[i].constant;
    if (constant == kNone) continue;
    const auto id = static_cast<ValueId>(i);
    BP_TRY(add_mutation(Output::Kind::buffer_mutation, id,
                        module_.constants[static_cast<size_t>(constant)].fqn));
    if (aliases_.is_written(id)) graph_.value(id).role = Role::buffer;
  }
  for (const Input& input : graph_.inputs) {
    if (input.value == kNone) continue;
    BP_TRY(add_mutation(Output::Kind::input_mutation, input.value, input.name));
  }
  const auto user = std::find_if(graph_.outputs.begin(), graph_.outputs.end(),
                                 [](const Output& o) { return o.kind == Output::Kind::user; });
  graph_.outputs.insert(user, mutations_.begin(), mutations_.end());
  return r_.finish();
}

Result<Written> Functionalizer::run_body() {
  BP_TRY(walk());
  Written written;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    if (graph_.inputs[i].value == kNone) continue;
    const size_t before = mutations_.size();
    BP_TRY(add_mutation(Output::Kind::user, graph_.inputs[i].value, ""));
    if (mutations_.size() > before) written.push_back(i);
  }
  for (size_t i = 0; i < num_values_; ++i) {
    if (graph_.values[i].constant == kNone || !aliases_.is_written(static_cast<ValueId>(i)))
      continue;
    return Error{Code::unsupported,
                 "body '" + graph_.name + "' writes the constant '" + graph_.values[i].name + "'"};
  }
  graph_.outputs.insert(graph_.outputs.end(), mutations_.begin(), mutations_.end());
  BP_TRY(r_.finish());
  return written;
}

namespace {

bool is_functional(const Graph& graph, const std::vector<Written>& written) {
  return std::none_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (InPlace::writes(node) || node.op.starts_with("aten::as_strided")) return true;
    const std::vector<int32_t> bodies = bodies_of(node);
    return std::any_of(bodies.begin(), bodies.end(),
                       [&](int32_t body) { return !written[static_cast<size_t>(body)].empty(); });
  });
}

}  // namespace

Status functionalize(Module& module, const ops::Table& table) {
  BP_ASSIGN_OR_RETURN(const std::vector<int32_t> order, bodies_first(module));
  std::vector<Written> written(module.graphs.size());
  for (int32_t index : order) {
    Graph& graph = *module.graphs[static_cast<size_t>(index)];
    if (is_functional(graph, written)) continue;
    Functionalizer functionalizer(module, graph, table, written);
    if (index == 0) {
      BP_TRY(functionalizer.run_method());
    } else {
      BP_ASSIGN_OR_RETURN(written[static_cast<size_t>(index)], functionalizer.run_body());
    }
  }
  return Ok{};
}

}  // namespace backplane::passes
