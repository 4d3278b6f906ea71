// Tensors of a torch.save file. Its pickle says how to rebuild each one; here that is read as data.
#include "reader/torch_save.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reader/archive.hpp"
#include "reader/pickle.hpp"
#include "reader/tensor_view.hpp"

namespace backplane {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kMaxRank = 64;
constexpr std::string_view kTensorV2 = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kTensorV3 = "torch._utils._rebuild_tensor_v3";
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";
constexpr std::string_view kParameterWithState = "torch._utils._rebuild_parameter_with_state";
constexpr std::string_view kFromType = "torch._tensor._rebuild_from_type_v2";
constexpr std::string_view kTensorType = "torch.Tensor";
constexpr std::string_view kUntypedStorage = "torch.storage.UntypedStorage";

struct NamedType {
  std::string_view name;
  DType dtype;
};

// Storage classes, then element types as the third version names them.
constexpr std::array kTypes = {
    NamedType{"torch.DoubleStorage", DType::f64},
    NamedType{"torch.FloatStorage", DType::f32},
    NamedType{"torch.HalfStorage", DType::f16},
    NamedType{"torch.BFloat16Storage", DType::bf16},
    NamedType{"torch.LongStorage", DType::i64},
    NamedType{"torch.IntStorage", DType::i32},
    NamedType{"torch.ShortStorage", DType::i16},
    NamedType{"torch.CharStorage", DType::i8},
    NamedType{"torch.ByteStorage", DType::u8},
    NamedType{"torch.BoolStorage", DType::boolean},
    NamedType{"torch.ComplexFloatStorage", DType::c64},
    NamedType{"torch.ComplexDoubleStorage", DType::c128},
    NamedType{"torch.float64", DType::f64},
    NamedType{"torch.float32", DType::f32},
    NamedType{"torch.float16", DType::f16},
    NamedType{"torch.bfloat16", DType::bf16},
    NamedType{"torch.int64", DType::i64},
    NamedType{"torch.int32", DType::i32},
    NamedType{"torch.int16", DType::i16},
    NamedType{"torch.int8", DType::i8},
    NamedType{"torch.uint8", DType::u8},
    NamedType{"torch.uint16", DType::u16},
    NamedType{"torch.uint32", DType::u32},
    NamedType{"torch.uint64", DType::u64},
    NamedType{"torch.bool", DType::boolean},
    NamedType{"torch.complex32", DType::c32},
    NamedType{"torch.complex64", DType::c64},
    NamedType{"torch.complex128", DType::c128},
    NamedType{"torch.float8_e4m3fn", DType::f8e4m3fn},
    NamedType{"torch.float8_e5m2", DType::f8e5m2},
    NamedType{"torch.float8_e4m3fnuz", DType::f8e4m3fnuz},
    NamedType{"torch.float8_e5m2fnuz", DType::f8e5m2fnuz},
    NamedType{"torch.float8_e8m0fnu", DType::f8e8m0fnu},
};

std::vector<std::string_view> allowed_globals() {
  std::vector<std::string_view> names = {
      kTensorV2,   kTensorV3,       kParameter,   kParameterWithState, kFromType,
      kTensorType, kUntypedStorage, "torch.Size", "torch.device",
  };
  std::transform(kTypes.begin(), kTypes.end(), std::back_inserter(names),
                 [](const NamedType& type) { return type.name; });
  return names;
}

std::optional<DType> type_named(std::string_view name) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const NamedType& type) { return type.name == name; });
  if (found == kTypes.end()) return std::nullopt;
  return found->dtype;
}

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error malformed(std::string what) {
  return {Code::invalid_argument, std::move(what)};
}

class Reader {
 public:
  Reader(Archive archive, Pickle pickle, std::string root, Buffers& buffers)
      : archive_(std::move(archive)),
        pickle_(std::move(pickle)),
        root_(std::move(root)),
        buffers_(buffers) {}

  Result<std::vector<Constant>> run();

 private:
  using Items = std::span<const uint32_t>;

  struct Storage {
    Bytes bytes;
    std::optional<DType> dtype;  // none: untyped
  };

  // Fills `tensor` if `value` rebuilds one; false: it is something else.
  Result<bool> read_tensor(const PickleValue& value, Constant& tensor);
  Status read_rebuild(Items arguments, bool typed, Constant& tensor);
  Result<Storage> read_storage(const PickleValue& value);
  Result<Bytes> storage_bytes(std::string_view key);
  Status read_integers(const PickleValue& value, std::vector<int64_t>& out) const;

  [[nodiscard]] const PickleValue& at(uint32_t index) const { return pickle_[index]; }

  Archive archive_;
  Pickle pickle_;
  std::string root_;
  Buffers& buffers_;
  std::unordered_map<std::string_view, Bytes> storages_;
};

Result<std::vector<Constant>> Reader::run() {
  const PickleValue& dict = pickle_.top();
  if (dict.kind != PickleKind::dict) return malformed("torch.save file that holds no dict");
  std::vector<Constant> tensors;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& key = at(dict.items[i]);
    if (key.kind != PickleKind::text) continue;
    Constant tensor;
    tensor.fqn = std::string(key.text);
    Result<bool> read = read_tensor(at(dict.items[i + 1]), tensor);
    if (!read.ok()) return std::move(read).error().in("tensor '" + tensor.fqn + "'");
    if (*read) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<bool> Reader::read_tensor(const PickleValue& value, Constant& tensor) {
  const PickleValue* call = &value;
  if (call->kind != PickleKind::call) return false;
  std::string_view function = at(call->items[0]).text;
  if ((function == kParameter || function == kParameterWithState) && call->items.size() > 1) {
    tensor.is_parameter = true;
    call = &at(call->items[1]);
    if (call->kind != PickleKind::call) return malformed("a parameter of no tensor");
    function = at(call->items[0]).text;
  }
  Items arguments = Items(call->items).subspan(1);
  if (function == kFromType && arguments.size() >= 3) {  // function, type, its arguments, state
    if (at(arguments[1]).text != kTensorType) {
      return Error{Code::unsupported, "a tensor subclass; convert it to a plain tensor first"};
    }
    function = at(arguments[0]).text;
    arguments = Items(at(arguments[2]).items);
  }
  if (function != kTensorV2 && function != kTensorV3) return false;
  BP_TRY(read_rebuild(arguments, function == kTensorV3, tensor));
  return true;
}

// Arguments: storage, offset, sizes, strides, requires_grad, hooks; version 3: then the type.
Status Reader::read_rebuild(Items arguments, bool typed, Constant& tensor) {
  if (arguments.size() < (typed ? 7U : 4U)) return malformed("rebuilt from too few values");
  BP_ASSIGN_OR_RETURN(const Storage storage, read_storage(at(arguments[0])));
  const PickleValue& offset = at(arguments[1]);
  if (offset.kind != PickleKind::integer) return malformed("its storage offset is no integer");
  const std::optional<DType> dtype = typed ? type_named(at(arguments[6]).text) : storage.dtype;
  if (!dtype) return malformed("it has no element type that is known");
  tensor.dtype = *dtype;
  tensor.storage = storage.bytes;
  tensor.storage_offset = offset.integer;
  BP_TRY(read_integers(at(arguments[2]), tensor.sizes));
  BP_TRY(read_integers(at(arguments[3]), tensor.strides));
  return check_view(tensor);
}

// A persistent id: "storage", class, key, device, number of elements.
Result<Reader::Storage> Reader::read_storage(const PickleValue& value) {
  if (value.kind != PickleKind::persistent) return malformed("it has no storage");
  const PickleValue& id = at(value.items[0]);
  if (id.kind != PickleKind::tuple || id.items.size() < 5 || at(id.items[0]).text != "storage" ||
      at(id.items[2]).kind != PickleKind::text) {
    return malformed("its storage is not named as torch.save does");
  }
  BP_ASSIGN_OR_RETURN(const Bytes bytes, storage_bytes(at(id.items[2]).text));
  return Storage{.bytes = bytes, .dtype = type_named(at(id.items[1]).text)};
}

Result<Bytes> Reader::storage_bytes(std::string_view key) {
  const auto [found, is_new] = storages_.try_emplace(key);
  if (!is_new) return found->second;
  const std::string name = root_ + "data/" + std::string(key);
  const ArchiveEntry* entry = archive_.find(name);
  if (entry == nullptr) return malformed("its data '" + name + "' is missing");
  BP_ASSIGN_OR_RETURN(const Bytes bytes, archive_.read(*entry, buffers_));
  found->second = aligned(bytes, buffers_);
  return found->second;
}

Status Reader::read_integers(const PickleValue& value, std::vector<int64_t>& out) const {
  const PickleValue* list = &value;
  // torch.Size((2, 3)) is a call with one tuple.
  if (list->kind == PickleKind::call && list->items.size() == 2) list = &at(list->items[1]);
  if (list->kind != PickleKind::tuple) return malformed("its sizes or strides are no tuple");
  if (list->items.size() > kMaxRank) return malformed("it has too many dimensions");
  out.reserve(list->items.size());
  for (const uint32_t item : list->items) {
    if (at(item).kind != PickleKind::integer) {
      return malformed("its sizes or strides are not integers");
    }
    out.push_back(at(item).integer);
  }
  return Ok{};
}

}  // namespace

Result<std::vector<Constant>> read_torch_save(Bytes bytes, Buffers& buffers) {
  BP_ASSIGN_OR_RETURN(Archive archive, Archive::open(bytes));
  constexpr std::string_view kPickle = "data.pkl";
  const ArchiveEntry* entry = archive.find_below_root(kPickle);
  if (entry == nullptr) return malformed("not a torch.save file: it has no data.pkl");
  std::string root(entry->name.substr(0, entry->name.size() - kPickle.size()));
  if (const ArchiveEntry* order = archive.find(root + "byteorder")) {
    BP_ASSIGN_OR_RETURN(const Bytes text, archive.read_checked(*order, buffers));
    if (as_text(text) != "little") {
      return Error{Code::unsupported, "torch.save file that is not little-endian"};
    }
  }
  BP_ASSIGN_OR_RETURN(const Bytes program, archive.read_checked(*entry, buffers));
  const std::vector<std::string_view> allowed = allowed_globals();
  BP_ASSIGN_OR_RETURN(Pickle pickle, read_pickle(program, allowed));
  return Reader(std::move(archive), std::move(pickle), std::move(root), buffers).run();
}

}  // namespace backplane
