// A pickle is a program for a stack machine; this one has no instruction that does anything.
#include "reader/pickle.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "reader/pickle_ops.hpp"

namespace backplane {
namespace {

using namespace pickle;  // NOLINT: names of instructions

constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr uint8_t kMaxProtocol = 5;

std::string hex(uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::span<const std::string_view> allowed)
      : bytes_(bytes), allowed_(allowed) {}

  Result<Pickle> run();

 private:
  Status step(uint8_t op);
  Status step_container(uint8_t op);
  Status step_literal(uint8_t op);
  Status step_memo(uint8_t op);

  // Readers of operands set `failed_` at the end of the bytes and then give zeros.
  uint64_t read_uint(size_t num_bytes);
  std::string_view read_bytes(uint64_t num_bytes);
  std::string_view read_line();

  Status push_long();
  Status push_global(std::string_view module, std::string_view name);
  Status push_stack_global();
  Status reduce();
  Status build();
  Status extend(PickleKind kind, size_t begin);

  void push(PickleValue value) {
    stack_.push_back(static_cast<uint32_t>(pickle_.values.size()));
    pickle_.values.push_back(std::move(value));
  }
  Status push_tuple(size_t begin) {
    if (begin > stack_.size() || begin < floor()) return malformed("a tuple of too few values");
    PickleValue tuple{.kind = PickleKind::tuple};
    tuple.items.assign(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin);
    push(std::move(tuple));
    return Ok{};
  }
  // Where the stack began at the last mark; instructions may not reach below it.
  [[nodiscard]] size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  [[nodiscard]] bool has(size_t num_values) const { return stack_.size() >= floor() + num_values; }
  std::optional<size_t> pop_mark() {
    if (marks_.empty()) return std::nullopt;
    const size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }

  [[nodiscard]] Error malformed(std::string_view what) const {
    return {Code::invalid_argument,
            "malformed pickle at byte " + std::to_string(at_) + ": " + std::string(what)};
  }

  std::span<const std::byte> bytes_;
  std::span<const std::string_view> allowed_;
  size_t at_ = 0;
  bool failed_ = false;
  bool stopped_ = false;
  size_t num_copied_ = 0;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, uint32_t> memo_;
  Pickle pickle_;
};

uint64_t Machine::read_uint(size_t num_bytes) {
  uint64_t value = 0;
  const std::string_view bytes = read_bytes(num_bytes);
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

std::string_view Machine::read_bytes(uint64_t num_bytes) {
  if (num_bytes > bytes_.size() - at_) {
    failed_ = true;
    at_ = bytes_.size();
    return "";
  }
  const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
  at_ += num_bytes;
  return {begin, num_bytes};
}

std::string_view Machine::read_line() {
  const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
  const std::string_view rest(begin, bytes_.size() - at_);
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return read_bytes(rest.size() + 1);
  at_ += end + 1;
  return rest.substr(0, end);
}

Status Machine::push_long() {
  const uint64_t size = read_uint(1);
  const std::string_view digits = read_bytes(size);
  if (digits.size() > sizeof(int64_t)) {
    return Error{Code::unsupported, "pickle with an integer of more than 64 bits"};
  }
  // Two's complement: the last byte's sign fills up.
  int64_t value = !digits.empty() && (static_cast<uint8_t>(digits.back()) & 0x80) != 0 ? -1 : 0;
  std::memcpy(&value, digits.data(), digits.size());
  push({.kind = PickleKind::integer, .integer = value});
  return Ok{};
}

Status Machine::push_global(std::string_view module, std::string_view name) {
  std::string full = std::string(module) + "." + std::string(name);
  const auto found = std::find(allowed_.begin(), allowed_.end(), full);
  if (found != allowed_.end()) {
    push({.kind = PickleKind::global, .text = *found});
    return Ok{};
  }
  if (full == kOrderedDict) {
    push({.kind = PickleKind::global, .text = kOrderedDict});
    return Ok{};
  }
  return Error{Code::unsupported, "pickle that needs Python's " + full.substr(0, 200) +
                                      "; only plain tensors can be read"};
}

Status Machine::push_stack_global() {
  if (!has(2)) return malformed("a global without a name");
  const PickleValue& module = pickle_[stack_[stack_.size() - 2]];
  const PickleValue& name = pickle_[stack_.back()];
  if (module.kind != PickleKind::text || name.kind != PickleKind::text) {
    return malformed("a global whose name is no text");
  }
  const std::string_view module_text = module.text;
  const std::string_view name_text = name.text;
  stack_.resize(stack_.size() - 2);
  return push_global(module_text, name_text);
}

Status Machine::reduce() {
  if (!has(2)) return malformed("a call without arguments");
  const uint32_t function = stack_[stack_.size() - 2];
  const PickleValue& arguments = pickle_[stack_.back()];
  if (pickle_[function].kind != PickleKind::global || arguments.kind != PickleKind::tuple) {
    return malformed("a call of something that is no function");
  }
  PickleValue result;
  if (pickle_[function].text == kOrderedDict) {
    if (!arguments.items.empty()) return malformed("an OrderedDict that is made from something");
    result.kind = PickleKind::dict;
  } else {
    result.kind = PickleKind::call;
    result.items.reserve(arguments.items.size() + 1);
    result.items.push_back(function);
    result.items.insert(result.items.end(), arguments.items.begin(), arguments.items.end());
    // Called again through the memo, a long tuple would be copied each time.
    num_copied_ += arguments.items.size();
    if (num_copied_ > bytes_.size()) return malformed("calls with too many arguments");
  }
  stack_.resize(stack_.size() - 2);
  push(std::move(result));
  return Ok{};
}

Status Machine::build() {
  if (!has(2)) return malformed("a state without an object");
  // torch.nn.Module.state_dict hangs `_metadata` on its OrderedDict: nothing that tensors need.
  if (pickle_[stack_[stack_.size() - 2]].kind != PickleKind::dict) {
    return Error{Code::unsupported,
                 "pickle of an object with a state; only plain tensors can be "
                 "read"};
  }
  stack_.pop_back();
  return Ok{};
}

Status Machine::extend(PickleKind kind, size_t begin) {
  if (begin <= floor() || begin > stack_.size()) return malformed("items without a container");
  PickleValue& container = pickle_.values[stack_[begin - 1]];
  const size_t num_items = stack_.size() - begin;
  if (container.kind != kind || (kind == PickleKind::dict && num_items % 2 != 0)) {
    return malformed("items that don't fit their container");
  }
  container.items.insert(container.items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(begin),
                         stack_.end());
  stack_.resize(begin);
  return Ok{};
}

Status Machine::step_container(uint8_t op) {
  switch (op) {
    case kAppend:
      return has(2) ? extend(PickleKind::list, stack_.size() - 1) : malformed("a lone item");
    case kSetItem:
      return has(3) ? extend(PickleKind::dict, stack_.size() - 2) : malformed("a lone item");
    case kTuple1:
    case kTuple2:
    case kTuple3: {
      const size_t size = op - kTuple1 + size_t{1};
      return has(size) ? push_tuple(stack_.size() - size) : malformed("a tuple of too few values");
    }
    default:
      break;
  }
  const std::optional<size_t> mark = pop_mark();
  if (!mark) return malformed("an instruction without its mark");
  switch (op) {
    case kAppends:
      return extend(PickleKind::list, *mark);
    case kSetItems:
      return extend(PickleKind::dict, *mark);
    case kTuple:
      return push_tuple(*mark);
    default:
      stack_.resize(*mark);
      return Ok{};  // kPopMark
  }
}

Status Machine::step_literal(uint8_t op) {
  switch (op) {
    case kNone:
      push({});
      break;
    case kNewTrue:
      push({.kind = PickleKind::boolean, .integer = 1});
      break;
    case kNewFalse:
      push({.kind = PickleKind::boolean, .integer = 0});
      break;
    case kBinInt:
      push({.kind = PickleKind::integer, .integer = static_cast<int32_t>(read_uint(4))});
      break;
    case kBinInt1:
      push({.kind = PickleKind::integer, .integer = static_cast<int64_t>(read_uint(1))});
      break;
    case kBinInt2:
      push({.kind = PickleKind::integer, .integer = static_cast<int64_t>(read_uint(2))});
      break;
    case kBinFloat: {  // the one number that pickles write with the high byte first
      const double value = std::bit_cast<double>(__builtin_bswap64(read_uint(8)));
      push({.kind = PickleKind::real, .real = value});
      break;
    }
    case kShortBinUnicode:
    case kBinUnicode:
    case kBinUnicode8: {
      const size_t size_bytes = op == kBinUnicode ? 4 : op == kBinUnicode8 ? 8 : 1;
      const uint64_t size = read_uint(size_bytes);
      push({.kind = PickleKind::text, .text = read_bytes(size)});
      break;
    }
    case kEmptyTuple:
      push({.kind = PickleKind::tuple});
      break;
    case kEmptyList:
      push({.kind = PickleKind::list});
      break;
    case kEmptyDict:
      push({.kind = PickleKind::dict});
      break;
    default:
      return malformed("an instruction that is not known");
  }
  return Ok{};
}

Status Machine::step_memo(uint8_t op) {
  if (op == kBinGet || op == kLongBinGet) {
    const auto found = memo_.find(read_uint(op == kBinGet ? 1 : 4));
    if (found == memo_.end()) return malformed("a reference to nothing");
    stack_.push_back(found->second);
    return Ok{};
  }
  if (!has(1)) return malformed("nothing to remember");
  const uint64_t slot = op == kMemoize ? memo_.size() : read_uint(op == kBinPut ? 1 : 4);
  memo_[slot] = stack_.back();
  return Ok{};
}

Status Machine::step(uint8_t op) {
  switch (op) {
    case kProto:
      if (read_uint(1) > kMaxProtocol) return malformed("a protocol that is not known");
      return Ok{};
    case kFrame:
      read_uint(8);
      return Ok{};
    case kStop:
      stopped_ = true;
      return Ok{};
    case kMark:
      marks_.push_back(stack_.size());
      return Ok{};
    case kPop:
      if (!has(1)) return malformed("nothing to drop");
      stack_.pop_back();
      return Ok{};
    case kGlobal: {
      const std::string_view module = read_line();
      const std::string_view name = read_line();
      return failed_ ? Status(Ok{}) : push_global(module, name);
    }
    case kStackGlobal:
      return push_stack_global();
    case kReduce:
      return reduce();
    case kBuild:
      return build();
    case kBinPersId: {
      if (!has(1)) return malformed("nothing to refer to");
      const uint32_t id = stack_.back();
      stack_.pop_back();
      push({.kind = PickleKind::persistent, .items = {id}});
      return Ok{};
    }
    case kLong1:
      return push_long();
    case kBinGet:
    case kLongBinGet:
    case kBinPut:
    case kLongBinPut:
    case kMemoize:
      return step_memo(op);
    case kAppend:
    case kAppends:
    case kSetItem:
    case kSetItems:
    case kTuple:
    case kTuple1:
    case kTuple2:
    case kTuple3:
    case kPopMark:
      return step_container(op);
    case kNone:
    case kNewTrue:
    case kNewFalse:
    case kBinInt:
    case kBinInt1:
    case kBinInt2:
    case kBinFloat:
    case kShortBinUnicode:
    case kBinUnicode:
    case kBinUnicode8:
    case kEmptyTuple:
    case kEmptyList:
    case kEmptyDict:
      return step_literal(op);
    default:
      return Error{Code::unsupported, "pickle with instruction " + hex(op) + " at byte " +
                                          std::to_string(at_ - 1) + ", which tensors never need"};
  }
}

Result<Pickle> Machine::run() {
  while (!stopped_) {
    const auto op = static_cast<uint8_t>(read_uint(1));
    if (failed_) break;
    BP_TRY(step(op));
    if (failed_) break;
  }
  if (failed_) return malformed("it ends early");
  if (!has(1)) return malformed("it holds no value");
  pickle_.root = stack_.back();
  return std::move(pickle_);
}

}  // namespace

Result<Pickle> read_pickle(std::span<const std::byte> bytes,
                           std::span<const std::string_view> allowed) {
  return Machine(bytes, allowed).run();
}

}  // namespace backplane
