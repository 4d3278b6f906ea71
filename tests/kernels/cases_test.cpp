// Every kernel against what PyTorch gave for the same arguments.
#include <doctest/doctest.h>

#include <set>

#include "call.hpp"
#include "case_file.hpp"
#include "portable/dtype.hpp"
#include "portable/library.hpp"

namespace {

using namespace backplane;
using namespace backplane::testing;

void put(Call& call, CaseValue& v) {
  switch (v.kind) {
    case BP_BOX_TENSOR:
      call.tensor(v.tensors[0]);
      break;
    case BP_BOX_TENSORS: {
      std::vector<HostTensor*> list;
      for (size_t i = 0; i < v.tensors.size(); ++i) {
        list.push_back(v.present[i] != 0 ? &v.tensors[i] : nullptr);
      }
      call.tensors(list);
      break;
    }
    case BP_BOX_INT:
      call.number(v.i);
      break;
    case BP_BOX_BOOL:
      call.number(v.i != 0);
      break;
    case BP_BOX_DOUBLE:
      call.number(v.f);
      break;
    case BP_BOX_COMPLEX:
      call.complex(v.f, v.imag);
      break;
    case BP_BOX_INTS:
      call.ints(v.ints);
      break;
    case BP_BOX_DOUBLES:
      call.doubles(v.doubles);
      break;
    case BP_BOX_BOOLS:
      call.bools(v.bools);
      break;
    case BP_BOX_STRING:
      call.text(v.text);
      break;
    default:
      call.none();
      break;
  }
}

std::string describe(const Case& c) {
  std::string text = c.name + "(";
  for (const CaseValue& v : c.inputs) {
    text += &v == c.inputs.data() ? "" : ", ";
    for (const HostTensor& t : v.tensors) {
      text += std::string(portable::name_of(*portable::from_dlpack(t.dtype))) + "[";
      for (const int64_t n : t.shape) {
        text += std::to_string(n) + " ";
      }
      text += "] ";
    }
    text += v.kind == BP_BOX_INT || v.kind == BP_BOX_BOOL ? std::to_string(v.i) : "";
    text += v.kind == BP_BOX_DOUBLE || v.kind == BP_BOX_COMPLEX ? std::to_string(v.f) : "";
    for (const int64_t n : v.ints) {
      text += std::to_string(n) + " ";
    }
    text += v.text;
  }
  return text + ")";
}

// What is wrong, empty if nothing is.
std::string try_case(Case c, bool reversed) {
  Call call(*portable::library(), c.name);
  call.host().reversed_outputs = reversed;
  for (CaseValue& v : c.inputs) {
    put(call, v);
  }
  std::deque<HostTensor> outs;
  for (const CaseValue& v : c.outputs) {
    std::vector<HostTensor*> list;
    for (const HostTensor& t : v.tensors) {
      outs.emplace_back();
      outs.back().dtype = t.dtype;
      list.push_back(&outs.back());
    }
    v.kind == BP_BOX_TENSORS ? call.outs(list) : call.out(*list[0]);
  }
  if (c.fails) {
    return call.run() == BP_OK ? "is not refused" : "";
  }
  if (const int32_t code = call.run(); code != BP_OK) {
    return "code " + std::to_string(code) + ": " + call.error();
  }
  auto out = outs.begin();
  for (const CaseValue& v : c.outputs) {
    for (const HostTensor& t : v.tensors) {
      if (std::string text = difference(*out++, t, c.rtol, c.atol); !text.empty()) {
        return text;
      }
    }
  }
  return "";
}

TEST_SUITE("plugins/portable") {
  TEST_CASE("kernels give what PyTorch gives") {
    for (const char* family : {KERNEL_FAMILIES}) {
      const std::vector<Case> cases = read_cases("kernels/" + std::string(family) + ".bin");
      INFO("family ", std::string(family));
      CHECK(!cases.empty());
      std::set<std::string> missing;
      for (const Case& c : cases) {
        if (find_kernel(*portable::library(), c.name) == nullptr) {
          missing.insert(c.name);
          continue;
        }
        for (const bool reversed : {false, true}) {
          const std::string problem = try_case(c, reversed);
          const std::string text = describe(c) + (reversed ? " reversed: " : ": ") + problem;
          CHECK_MESSAGE(problem.empty(), text);
        }
      }
      for (const std::string& name : missing) {
        FAIL_CHECK("no kernel " << name);
      }
    }
  }
}

}  // namespace
