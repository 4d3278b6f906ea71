// The smallest honest backend: takes add, mul, relu and linear of float32, any sizes, and runs them
// in plain C++. Its payload is text: what each step computes from which slots. Copy it, and fill in
// the five functions: create, partition, compile, load, execute.
#include <backplane/plugin.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace backplane;  // NOLINT(google-build-using-namespace): one screen

constexpr std::array<std::string_view, 4> kOps = {"aten::add.Tensor", "aten::mul.Tensor",
                                                  "aten::relu", "aten::linear"};
enum Op : int64_t { add, mul, relu, linear };

struct Step {
  int64_t op, a, b, c, out;  // slots: inputs first, then constants, then results; -1: absent
};

struct Tensor {
  std::vector<int64_t> shape;
  const float* data = nullptr;
  std::vector<float> own;
};

int64_t count(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

// ---- running ------------------------------------------------------------------------------------

struct Instance {
  sdk::Host host;
  const struct Program& program;
  Status execute(const sdk::Run& run);
};

struct Program {
  sdk::Host host;
  int64_t num_inputs = -1;
  std::vector<Step> steps;
  std::vector<int64_t> outputs;
  std::vector<Tensor> constants;
  std::vector<sdk::Datum> held;  // keeps their bytes

  Result<std::unique_ptr<Instance>> instance(const bp_instance_args_t&) {
    return std::unique_ptr<Instance>(new Instance{host, *this});
  }
};

Result<Tensor> elementwise(Op op, const Tensor& a, const Tensor& b) {
  const size_t rank = std::max(a.shape.size(), b.shape.size());
  Tensor out{std::vector<int64_t>(rank, 1), nullptr, {}};
  std::vector<int64_t> step_a(rank, 0), step_b(rank, 0);
  int64_t na = 1, nb = 1;
  for (size_t i = 0; i < rank; ++i) {  // from the last dimension
    const size_t d = rank - 1 - i;
    const int64_t sa = i < a.shape.size() ? a.shape[a.shape.size() - 1 - i] : 1;
    const int64_t sb = i < b.shape.size() ? b.shape[b.shape.size() - 1 - i] : 1;
    if (sa != sb && sa != 1 && sb != 1) {
      return Error{Code::invalid_argument, "sizes " + std::to_string(sa) + " and " +
                                               std::to_string(sb) + " don't broadcast"};
    }
    out.shape[d] = sa == 1 ? sb : sa;
    if (sa != 1) step_a[d] = na;
    if (sb != 1) step_b[d] = nb;
    na *= sa;
    nb *= sb;
  }
  out.own.resize(static_cast<size_t>(count(out.shape)));
  std::vector<int64_t> index(rank, 0);
  int64_t at_a = 0, at_b = 0;
  for (float& y : out.own) {
    y = op == add ? a.data[at_a] + b.data[at_b] : a.data[at_a] * b.data[at_b];
    for (size_t d = rank; d-- > 0;) {
      at_a += step_a[d];
      at_b += step_b[d];
      if (++index[d] < out.shape[d]) break;
      at_a -= step_a[d] * out.shape[d];
      at_b -= step_b[d] * out.shape[d];
      index[d] = 0;
    }
  }
  return out;
}

// y[m, n] = x[m, k] · w[n, k]ᵀ + b[n]
Result<Tensor> matrix(const Tensor& x, const Tensor& w, const Tensor* b) {
  if (w.shape.size() != 2 || (b != nullptr && count(b->shape) != w.shape[0]))
    return Error{Code::invalid_argument, "linear: weight and bias don't fit together"};
  const int64_t k = w.shape[1];
  const int64_t n = w.shape[0];
  if (x.shape.empty() || x.shape.back() != k)
    return Error{Code::invalid_argument,
                 "linear: the input's last size is not " + std::to_string(k)};
  Tensor y{x.shape, nullptr, {}};
  y.shape.back() = n;
  y.own.resize(static_cast<size_t>(count(y.shape)));
  for (int64_t i = 0, m = k == 0 ? 0 : count(x.shape) / k; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = b == nullptr ? 0 : b->data[j];
      for (int64_t p = 0; p < k; ++p) sum += x.data[i * k + p] * w.data[j * k + p];
      y.own[static_cast<size_t>(i * n + j)] = sum;
    }
  }
  return y;
}

Status Instance::execute(const sdk::Run& run) {
  if (static_cast<int64_t>(run.inputs().size()) != program.num_inputs ||
      run.outputs().size() != program.outputs.size())
    return Error{Code::invalid_argument, "the payload is for other inputs or outputs"};
  std::vector<Tensor> slots;
  for (const bp_tensor_t& in : run.inputs()) {
    const auto* data =
        reinterpret_cast<const float*>(static_cast<const std::byte*>(in.data) + in.byte_offset);
    slots.push_back({{in.shape, in.shape + in.ndim}, data, {}});
  }
  for (const Tensor& constant : program.constants)
    slots.push_back({constant.shape, constant.data, {}});
  for (const Step& step : program.steps) {
    const Tensor& a = slots[static_cast<size_t>(step.a)];
    Result<Tensor> y =
        Tensor{a.shape, nullptr, std::vector<float>(a.data, a.data + count(a.shape))};
    if (step.op == linear) {
      y = matrix(a, slots[static_cast<size_t>(step.b)],
                 step.c < 0 ? nullptr : &slots[static_cast<size_t>(step.c)]);
    } else if (step.op == relu) {
      for (float& v : y->own) v = v < 0 ? 0 : v;  // NaN stays
    } else {
      y = elementwise(static_cast<Op>(step.op), a, slots[static_cast<size_t>(step.b)]);
    }
    if (!y.ok()) return std::move(y).error();
    slots.push_back(std::move(*y));
    slots.back().data = slots.back().own.data();
  }
  for (uint32_t i = 0; i < run.outputs().size(); ++i) {
    const Tensor& result = slots[static_cast<size_t>(program.outputs[i])];
    BP_TRY(run.resize(i, result.shape));
    const bp_tensor_t& out = run.outputs()[i];
    std::copy_n(result.data, count(result.shape),
                reinterpret_cast<float*>(static_cast<std::byte*>(out.data) + out.byte_offset));
  }
  return Ok{};
}

// ---- the backend --------------------------------------------------------------------------------

bool is_f32(const sdk::Graph& graph, const bp_arg_t& arg) {
  const auto id = sdk::value_of(arg);
  if (!id) return false;
  const bp_value_t& value = graph.value(*id);
  return value.kind == BP_VALUE_TENSOR && value.dtype.code == BP_DT_FLOAT && value.dtype.bits == 32;
}

struct Template {
  static constexpr std::array<bp_str_t, 1> kKept = {sdk::text("aten::linear")};
  static constexpr sdk::Info kInfo = {.name = "template",
                                      .version = BACKPLANE_VERSION,
                                      .vendor = "Backplane",
                                      .license = "Apache-2.0",
                                      .data_placement = BP_DATA_EXTERNAL | BP_DATA_INLINE,
                                      .kept_ops = kKept};
  sdk::Host host;

  static Result<std::unique_ptr<Template>> create(sdk::Host host, const sdk::Options&) {
    return std::unique_ptr<Template>(new Template{host});
  }

  // The empty string if the node is one that we compute.
  static std::string_view why_not(const sdk::Graph& graph, const bp_node_t& node) {
    const auto* op = std::find(kOps.begin(), kOps.end(), sdk::op(node));
    if (op == kOps.end()) return "not an operator of this backend";
    const bool binary = op < kOps.begin() + relu;
    const auto args = sdk::args(node);
    for (uint32_t i = 0; i < (binary ? 2U : 1U); ++i) {
      if (!is_f32(graph, args[i])) return "takes float32 tensors alone";
    }
    if (op == kOps.begin() + add && sdk::number_of(args[2]) != 1.0) return "takes no alpha but 1";
    if (op != kOps.begin() + linear) return {};
    if (!is_f32(graph, args[1]) || graph.value(*sdk::value_of(args[1])).rank != 2)
      return "takes a float32 matrix for weight";
    if (args[2].kind != BP_ARG_NONE && !is_f32(graph, args[2])) return "takes a float32 bias";
    return {};
  }

  Status partition(const sdk::LowerRequest& request, const sdk::Claims& claims) {  // NOLINT: a slot
    std::vector<int32_t> nodes;
    int32_t index = 0;
    for (const bp_node_t& node : request.graph.nodes()) {
      const std::string_view reason = why_not(request.graph, node);
      if (reason.empty()) nodes.push_back(index);
      if (!reason.empty()) claims.refuse(index, reason);
      ++index;
    }
    return claims.take(nodes);
  }

  // Payload: "in N", then "const KEY SIZE…" and "step OP A B C" lines in slot order, then "out
  // SLOT…".
  Status compile(const sdk::LowerRequest& request, const sdk::Emitter& emitter) {  // NOLINT: a slot
    const sdk::Graph& graph = request.graph;
    std::vector<int64_t> slot(graph.values().size(), -1);
    std::string text = "in " + std::to_string(graph.inputs().size()) + "\n";
    int64_t next = 0;
    for (const int32_t input : graph.inputs()) slot[static_cast<size_t>(input)] = next++;
    for (uint32_t v = 0; v < graph.values().size(); ++v) {
      const bp_value_t& value = graph.values()[v];
      if (value.role != BP_ROLE_PARAMETER && value.role != BP_ROLE_BUFFER &&
          value.role != BP_ROLE_CONSTANT)
        continue;
      BP_TRY(emitter.constant(static_cast<int32_t>(v), 64));
      text += "const " + std::string(sdk::view(value.key));
      for (uint32_t d = 0; d < value.rank; ++d) text += " " + std::to_string(value.dims[d].size);
      text += "\n";
      slot[v] = next++;
    }
    for (const bp_node_t& node : graph.nodes()) {
      text += "step " +
              std::to_string(std::find(kOps.begin(), kOps.end(), sdk::op(node)) - kOps.begin());
      for (uint32_t i = 0; i < 3; ++i) {
        const auto id =
            i < sdk::args(node).size() ? sdk::value_of(sdk::args(node)[i]) : std::nullopt;
        text += " " + std::to_string(id ? slot[static_cast<size_t>(*id)] : -1);
      }
      text += "\n";
      slot[static_cast<size_t>(sdk::outputs(node)[0])] = next++;
    }
    text += "out";
    for (const bp_output_t& output : graph.outputs())
      text += " " + std::to_string(slot[static_cast<size_t>(output.value)]);
    return emitter.payload(std::as_bytes(std::span(text)));
  }

  Result<std::unique_ptr<Program>> load(const sdk::LoadRequest& request) {
    std::string_view text(reinterpret_cast<const char*>(request.payload.data()),
                          request.payload.size());
    auto program = std::make_unique<Program>(Program{.host = host});
    int64_t slots = 0;
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      const auto word = [&] {
        const std::string_view w = line.substr(0, line.find(' '));
        line.remove_prefix(std::min(line.size(), w.size() + 1));
        return w;
      };
      const std::string_view kind = word();
      Tensor constant;
      if (kind == "const") {
        BP_ASSIGN_OR_RETURN(sdk::Datum datum, request.data.get(word()));
        constant.data = reinterpret_cast<const float*>(datum.bytes().data());
        program->held.push_back(std::move(datum));
      }
      std::vector<int64_t> numbers;
      while (!line.empty()) {
        const std::string_view w = word();
        if (std::from_chars(w.data(), w.data() + w.size(), numbers.emplace_back()).ec !=
            std::errc())
          return damaged();
      }
      if (kind == "in" && numbers.size() == 1 && program->num_inputs < 0) {
        slots = program->num_inputs = numbers[0];
      } else if (kind == "const") {
        constant.shape = numbers;
        const bool fits = std::all_of(numbers.begin(), numbers.end(),
                                      [](int64_t n) { return n >= 0 && n < (int64_t{1} << 31); });
        if (!fits || count(numbers) * 4 > static_cast<int64_t>(program->held.back().bytes().size()))
          return damaged();
        program->constants.push_back(std::move(constant));
        ++slots;
      } else if (kind == "step" && numbers.size() == 4) {
        for (size_t i = 1; i < 4; ++i) {
          if (numbers[i] < (i == 1 ? 0 : -1) || numbers[i] >= slots) return damaged();
        }
        const bool needs_b = numbers[0] != relu;
        if (numbers[0] < add || numbers[0] > linear || (needs_b && numbers[2] < 0))
          return damaged();
        program->steps.push_back({numbers[0], numbers[1], numbers[2], numbers[3], slots++});
      } else if (kind == "out") {
        program->outputs = numbers;
        for (const int64_t n : numbers) {
          if (n < 0 || n >= slots) return damaged();
        }
      } else {
        return damaged();
      }
    }
    if (program->num_inputs < 0) return damaged();
    return program;
  }

  static Error damaged() {
    return {Code::invalid_argument, "the payload is damaged, or not of this backend"};
  }
};

}  // namespace

BP_PLUGIN(Template)
