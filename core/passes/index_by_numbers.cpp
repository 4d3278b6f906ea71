#include "passes/index_by_numbers.hpp"

#include <cstring>

namespace backplane::passes {
namespace {

bool is_mask(const KnownTensor* tensor) {
  return tensor != nullptr && !tensor->sizes.empty() &&
         (tensor->dtype == DType::boolean || tensor->dtype == DType::u8);
}

// For each dimension of a mask, where its true elements are along it.
std::vector<std::vector<int64_t>> true_places(const Tensor& mask) {
  std::vector<std::vector<int64_t>> places(mask.sizes().size());
  const std::span<const std::byte> bytes = mask.bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == std::byte{0}) continue;
    auto rest = static_cast<int64_t>(i);
    for (size_t d = places.size(); d-- > 0;) {
      places[d].push_back(rest % mask.sizes()[d]);
      rest /= mask.sizes()[d];
    }
  }
  return places;
}

// One value for each dimension of the mask; nothing if there is no memory.
std::vector<ValueId> add_indices(Rewriter& r, KnownTensors& known, const KnownTensor& mask) {
  std::vector<ValueId> indices;
  const std::string source = mask.source;  // `known` may move it
  const Result<Tensor> dense = Tensor::copy_of(mask.view());
  if (!dense.ok()) return indices;
  for (const std::vector<int64_t>& places : true_places(*dense)) {
    const auto count = static_cast<int64_t>(places.size());
    Result<Tensor> index = Tensor::uninitialized(DType::i64, {count});
    if (!index.ok()) return {};
    if (count > 0) std::memcpy(index->data_as<int64_t>(), places.data(), index->nbytes());
    Value value;
    value.type = {DType::i64, {SymInt(count)}, {}};
    indices.push_back(r.new_value("index", std::move(value)));
    known.add_result(indices.back(), std::move(index).value(), source);
  }
  return indices;
}

}  // namespace

void index_by_numbers(Rewriter& r, KnownTensors& known, Node& node) {
  const bool indexes = node.op.starts_with("aten::index.Tensor") ||
                       node.op.starts_with("aten::index_put") ||
                       node.op.starts_with("aten::_unsafe_index");
  if (!indexes) return;
  for (NamedArgument& arg : node.args) {
    auto* list = std::get_if<ValueList>(&arg.value);
    if (list == nullptr || arg.name != "indices") continue;
    std::vector<ValueId> indices;
    for (ValueId id : list->ids) {
      const KnownTensor* mask = id == kNone ? nullptr : known.find(id);
      std::vector<ValueId> places;
      if (is_mask(mask)) places = add_indices(r, known, *mask);
      if (places.empty()) places.push_back(id);
      indices.insert(indices.end(), places.begin(), places.end());
    }
    list->ids = std::move(indices);
  }
}

}  // namespace backplane::passes
