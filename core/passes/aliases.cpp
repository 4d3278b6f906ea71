#include "passes/aliases.hpp"

#include <algorithm>

namespace backplane::passes {

int32_t Aliases::find(ValueId value) const {
  const auto index = static_cast<size_t>(value);
  return index < of_value_.size() ? of_value_[index] : -1;
}

int32_t Aliases::alias(ValueId value) {
  if (const int32_t known = find(value); known >= 0) return known;
  if (of_value_.size() <= static_cast<size_t>(value)) {
    of_value_.resize(std::max(r_.graph().values.size(), static_cast<size_t>(value) + 1), -1);
  }
  const auto index = static_cast<int32_t>(aliases_.size());
  aliases_.push_back({-1, static_cast<int32_t>(storages_.size()), {}, value, {value}, 0});
  storages_.push_back({});
  storages_.back().old = value;
  of_value_[static_cast<size_t>(value)] = index;
  return index;
}

void Aliases::same(ValueId value, ValueId other) {
  const int32_t index = alias(other);
  (void)alias(value);  // makes room
  of_value_[static_cast<size_t>(value)] = index;
}

void Aliases::view(ValueId value, ValueId other, std::vector<ViewStep> steps, bool is_there) {
  int32_t parent = alias(other);
  if (steps.empty()) return same(value, other);
  (void)alias(value);
  const int32_t whole = at(parent).storage;
  const int32_t above = at(parent).parent;
  if (above >= 0 && at(above).now.id != kNone) {
    const TensorType& type = r_.type(at(above).now);
    if (is_select_of_copies(r_, type, at(parent).step, steps[0])) {
      std::vector<ViewStep> before = select_before_expand(type, at(parent).step, steps[0]);
      before.insert(before.end(), steps.begin() + 1, steps.end());
      steps = std::move(before);
      parent = above;
    }
  }
  for (ViewStep& step : steps) {
    aliases_.push_back({parent, whole, std::move(step)});
    parent = static_cast<int32_t>(aliases_.size()) - 1;
  }
  aliases_.back().old = value;
  if (is_there) {
    aliases_.back().now = {value};
    aliases_.back().version = storages_[static_cast<size_t>(whole)].version;
  }
  of_value_[static_cast<size_t>(value)] = parent;
}

void Aliases::entangle(ValueId value, ValueId other) {
  const int32_t a = at(alias(value)).storage;
  const int32_t b = at(alias(other)).storage;
  if (a == b) return;
  storages_[static_cast<size_t>(a)].entangled.push_back(b);
  storages_[static_cast<size_t>(b)].entangled.push_back(a);
}

ValueRef Aliases::read(ValueId value) {
  const int32_t index = find(value);
  return index < 0 ? ValueRef{value} : read_alias(index);
}

ValueRef Aliases::shape_of(ValueId value) const {
  const int32_t index = find(value);
  if (index < 0 || at(index).now.id == kNone) return {value};
  return at(index).now;
}

ValueRef Aliases::read_alias(int32_t index) {
  const Storage& memory = storage(index);
  if (memory.spoiled) {
    (void)r_.fail(
        Code::unsupported,
        "'" + r_.graph().value(memory.old).name +
            "' is read after memory that it may share was written; copy it (clone) first");
    return at(index).now;
  }
  std::vector<int32_t> stale;
  for (int32_t i = index; at(i).version != memory.version; i = at(i).parent) stale.push_back(i);
  for (; !stale.empty() && r_.ok(); stale.pop_back()) {
    Alias& part = at(stale.back());
    part.now = take(r_, part.step, at(part.parent).now);
    part.version = memory.version;
    if (r_.ok() && part.old != kNone) r_.adopt_type(part.now, part.old);
  }
  return at(index).now;
}

void Aliases::write(ValueId value, ValueRef contents) {
  const int32_t index = alias(value);
  Storage& memory = storage(index);
  std::vector<int32_t> chain;
  for (int32_t i = index; i >= 0; i = at(i).parent) chain.push_back(i);
  if (chain.size() > 1) (void)read_alias(at(index).parent);
  if (memory.spoiled) (void)read_alias(index);
  if (!r_.ok()) return;
  ++memory.version;
  memory.written = true;
  at(index).now = contents;
  at(index).version = memory.version;
  for (size_t i = 0; i + 1 < chain.size() && r_.ok(); ++i) {
    Alias& whole = at(chain[i + 1]);
    whole.now = put(r_, at(chain[i]).step, whole.now, at(chain[i]).now);
    whole.version = memory.version;
    if (r_.ok() && whole.old != kNone) r_.adopt_type(whole.now, whole.old);
  }
  spoil_entangled(at(index).storage);
}

void Aliases::spoil(ValueId value) {
  const int32_t memory = at(alias(value)).storage;
  storages_[static_cast<size_t>(memory)].spoiled = true;
  spoil_entangled(memory);
}

void Aliases::spoil_entangled(int32_t storage) {
  std::vector<int32_t> todo = storages_[static_cast<size_t>(storage)].entangled;
  while (!todo.empty()) {
    const int32_t index = todo.back();
    todo.pop_back();
    Storage& other = storages_[static_cast<size_t>(index)];
    if (index == storage || other.spoiled) continue;
    other.spoiled = true;
    todo.insert(todo.end(), other.entangled.begin(), other.entangled.end());
  }
}

bool Aliases::is_written(ValueId value) const {
  const int32_t index = find(value);
  return index >= 0 && storages_[static_cast<size_t>(at(index).storage)].written;
}

bool Aliases::is_spoiled(ValueId value) const {
  const int32_t index = find(value);
  return index >= 0 && storages_[static_cast<size_t>(at(index).storage)].spoiled;
}

bool Aliases::may_share(ValueId a, ValueId b) const {
  const int32_t x = find(a);
  const int32_t y = find(b);
  if (x < 0 || y < 0) return a == b;
  if (at(x).storage == at(y).storage) return true;
  const Storage& memory = storages_[static_cast<size_t>(at(x).storage)];
  return std::find(memory.entangled.begin(), memory.entangled.end(), at(y).storage) !=
         memory.entangled.end();
}

ValueId Aliases::whole(ValueId value) const {
  int32_t index = find(value);
  if (index < 0) return value;
  while (at(index).parent >= 0) index = at(index).parent;
  return at(index).old;
}

std::vector<ViewStep> Aliases::steps_from_whole(ValueId value) const {
  std::vector<ViewStep> steps;
  for (int32_t i = find(value); i >= 0 && at(i).parent >= 0; i = at(i).parent) {
    steps.push_back(at(i).step);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace backplane::passes
