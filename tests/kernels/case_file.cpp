#include "case_file.hpp"

#include <zlib.h>

#include <cassert>
#include <cmath>
#include <complex>
#include <fstream>
#include <iterator>

#include "portable/convert.hpp"

namespace backplane::testing {
namespace {

// Reads a file that the repository holds: trusted, so only asserted to be long enough.
class Reader {
 public:
  explicit Reader(std::vector<char> bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> list() {
    std::vector<T> values(get<uint32_t>());
    for (T& value : values) {
      value = get<T>();
    }
    return values;
  }
  std::string text() {
    const auto n = get<uint32_t>();
    return {take(n), n};
  }
  HostTensor tensor() {
    HostTensor t;
    t.dtype.code = get<uint8_t>();
    t.dtype.bits = get<uint8_t>();
    t.dtype.lanes = 1;
    const auto rank = get<uint8_t>();
    for (auto* dims : {&t.shape, &t.strides}) {
      for (int d = 0; d < rank; ++d) {
        dims->push_back(get<int64_t>());
      }
    }
    t.offset = get<uint32_t>();
    t.bytes.resize(get<uint32_t>());
    if (!t.bytes.empty()) {
      std::memcpy(t.bytes.data(), take(t.bytes.size()), t.bytes.size());
    }
    return t;
  }
  CaseValue value() {
    CaseValue v;
    v.kind = get<uint8_t>();
    switch (v.kind) {
      case BP_BOX_TENSOR:
        v.tensors.push_back(tensor());
        break;
      case BP_BOX_TENSORS: {
        const auto n = get<uint32_t>();
        for (uint32_t i = 0; i < n; ++i) {
          v.present.push_back(get<uint8_t>());
          v.tensors.push_back(v.present.back() != 0 ? tensor() : HostTensor());
        }
        break;
      }
      case BP_BOX_INT:
        v.i = get<int64_t>();
        break;
      case BP_BOX_BOOL:
        v.i = get<uint8_t>();
        break;
      case BP_BOX_DOUBLE:
        v.f = get<double>();
        break;
      case BP_BOX_COMPLEX:
        v.f = get<double>();
        v.imag = get<double>();
        break;
      case BP_BOX_INTS:
        v.ints = list<int64_t>();
        break;
      case BP_BOX_DOUBLES:
        v.doubles = list<double>();
        break;
      case BP_BOX_BOOLS:
        v.bools = list<uint8_t>();
        break;
      case BP_BOX_STRING:
        v.text = text();
        break;
      default:
        break;
    }
    return v;
  }

 private:
  const char* take(size_t n) {
    assert(bytes_.size() - at_ >= n);
    at_ += n;
    return bytes_.data() + at_ - n;
  }
  std::vector<char> bytes_;
  size_t at_ = 0;
};

std::string show(std::complex<double> z) {
  return std::to_string(z.real()) + (z.imag() != 0 ? "+" + std::to_string(z.imag()) + "i" : "");
}

bool close(double a, double b, double rtol, double atol) {
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         (!std::isinf(a) && !std::isinf(b) && std::fabs(a - b) <= atol + rtol * std::fabs(b));
}

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> packed{std::istreambuf_iterator<char>(file), {}};
  uint64_t size = 0;
  if (packed.size() < sizeof(size)) {
    return {};
  }
  std::memcpy(&size, packed.data(), sizeof(size));
  std::vector<char> bytes(size);
  uLongf unpacked = size;
  const int code = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &unpacked,
                              reinterpret_cast<const Bytef*>(packed.data() + sizeof(size)),
                              packed.size() - sizeof(size));
  if (code != Z_OK || unpacked != size) {
    return {};
  }
  Reader reader(std::move(bytes));
  std::vector<Case> cases(reader.get<uint32_t>());
  for (Case& c : cases) {
    c.name = reader.text();
    c.fails = reader.get<uint8_t>() != 0;
    c.rtol = reader.get<double>();
    c.atol = reader.get<double>();
    for (auto* values : {&c.inputs, &c.outputs}) {
      const auto n = reader.get<uint32_t>();
      for (uint32_t i = 0; i < n; ++i) {
        values->push_back(reader.value());
      }
    }
  }
  return cases;
}

std::string difference(const HostTensor& actual, const HostTensor& expected, double rtol,
                       double atol) {
  if (!actual.resized) {
    return "resize was not called";
  }
  if (actual.shape != expected.shape) {
    std::string text = "shape:";
    for (const int64_t n : actual.shape) {
      text += " " + std::to_string(n);
    }
    for (const int64_t n : expected.shape) {
      text += (&n == expected.shape.data() ? ", expected " : " ") + std::to_string(n);
    }
    return text;
  }
  const portable::DType dtype = *portable::from_dlpack(expected.dtype);
  const bool exact = !portable::is_floating(dtype) && !portable::is_complex(dtype);
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const std::byte* const a = actual.element(i);
    const std::byte* const b = expected.element(i);
    if (std::memcmp(a, b, expected.width()) == 0) {
      continue;
    }
    std::complex<double> x, y;
    portable::load(&x, dtype, a, 1, 1);
    portable::load(&y, dtype, b, 1, 1);
    if (exact || !close(x.real(), y.real(), rtol, atol) || !close(x.imag(), y.imag(), rtol, atol)) {
      return "element " + std::to_string(i) + " is " + show(x) + ", expected " + show(y);
    }
  }
  return {};
}

}  // namespace backplane::testing
