#include "cuda/runtime/convolution_graph.hpp"

#include <array>

namespace backplane::cuda {
namespace {

constexpr int64_t kFirstVirtual = 100;  // ids of tensors between operations

Result<DnnData> type_of(bp_dtype_t dtype) {
  if (dtype.code == BP_DT_FLOAT && dtype.bits == 32) return kDnnF32;
  if (dtype.code == BP_DT_FLOAT && dtype.bits == 64) return kDnnF64;
  if (dtype.code == BP_DT_FLOAT && dtype.bits == 16) return kDnnF16;
  if (dtype.code == BP_DT_BFLOAT && dtype.bits == 16) return kDnnBf16;
  return Error{Code::unsupported, "a convolution of such a dtype"};
}

// cuDNN wants two spatial dimensions at least: a convolution over one gets a first one of size 1.
struct Shape {
  std::vector<int64_t> dims, strides;
};
Shape shape_of(const BoundOperand& operand) {
  Shape shape;
  for (uint32_t d = 0; d < operand.rank; ++d) {
    if (operand.rank == 3 && d == 2) {
      shape.dims.push_back(1);
      shape.strides.push_back(operand.dims[2] * operand.strides[2]);
    }
    shape.dims.push_back(operand.dims[d]);
    shape.strides.push_back(operand.strides[d]);
  }
  return shape;
}

class Builder {
 public:
  Builder(const Cudnn& library, DnnHandle handle, const Convolution& convolution,
          const ConvolutionOperands& operands)
      : library_(library),
        handle_(handle),
        convolution_(convolution),
        operands_(operands),
        compute_(convolution.compute == Compute::f64 ? kDnnF64 : kDnnF32) {
    result_.objects.reserve(32);  // they are referred to
  }

  Result<ConvolutionGraph> build() {
    const bool has_relu = convolution_.epilogue == Epilogue::relu;
    int left =
        (operands_.z.is_there() ? 1 : 0) + (operands_.bias.is_there() ? 1 : 0) + (has_relu ? 1 : 0);
    if (convolution_.epilogue == Epilogue::gelu_tanh)
      return Error{Code::unsupported, "a convolution with GELU"};
    BP_ASSIGN_OR_RETURN(const DnnObject* x, tensor(operands_.x, 1));
    BP_ASSIGN_OR_RETURN(const DnnObject* w, tensor(operands_.w, 2));
    BP_ASSIGN_OR_RETURN(const DnnObject* now, result(left));
    convolve(*x, *w, *now);
    for (const auto& [operand, id] : {std::pair{&operands_.z, 5}, std::pair{&operands_.bias, 4}}) {
      if (!operand->is_there()) continue;
      BP_ASSIGN_OR_RETURN(const DnnObject* added,
                          id == 4 ? bias(*operand, id) : tensor(*operand, id));
      BP_ASSIGN_OR_RETURN(const DnnObject* next, result(--left));
      pointwise(kDnnAdd, *now, added, *next);
      now = next;
    }
    if (has_relu) {
      BP_ASSIGN_OR_RETURN(const DnnObject* next, result(--left));
      pointwise(kDnnReluForward, *now, nullptr, *next);
    }
    return finish();
  }

 private:
  DnnObject& make(DnnKind kind) { return result_.objects.emplace_back(library_, kind); }

  Result<const DnnObject*> tensor(const BoundOperand& operand, int64_t id) {
    BP_ASSIGN_OR_RETURN(const DnnData type, type_of(operand.dtype));
    return tensor(shape_of(operand), type, id, operand.align, false);
  }
  Result<const DnnObject*> tensor(const Shape& shape, DnnData type, int64_t id, int64_t align,
                                  bool is_virtual) {
    DnnObject& object = make(kDnnTensor);
    object.set(kDnnTensorType, type)
        .set(kDnnTensorDims, std::span<const int64_t>(shape.dims))
        .set(kDnnTensorStrides, std::span<const int64_t>(shape.strides))
        .set(kDnnTensorId, id)
        .set(kDnnTensorAlignment, align)
        .set(kDnnTensorVirtual, is_virtual);
    BP_TRY(library_.check(object.finalize(), "a tensor of a convolution"));
    return &object;
  }
  // [channels] as [1, channels, 1, 1], dense along the channels.
  Result<const DnnObject*> bias(const BoundOperand& operand, int64_t id) {
    BP_ASSIGN_OR_RETURN(const DnnData type, type_of(operand.dtype));
    const size_t rank = shape_of(operands_.y).dims.size();
    Shape shape{std::vector<int64_t>(rank, 1), std::vector<int64_t>(rank, 1)};
    shape.dims[1] = operand.dims[0];
    shape.strides[0] = operand.dims[0];
    for (size_t d = 2; d < rank; ++d) shape.strides[d] = operand.dims[0];
    return tensor(shape, type, id, operand.align, false);
  }
  // What an operation gives: y for the last, else a tensor that is never in memory.
  Result<const DnnObject*> result(int left) {
    if (left == 0) return tensor(operands_.y, 3);
    return tensor(shape_of(operands_.y), compute_, next_virtual_++, 16, true);
  }

  void convolve(const DnnObject& x, const DnnObject& w, const DnnObject& y) {
    std::array<int64_t, 3> stride{};
    std::array<int64_t, 3> padding{};
    std::array<int64_t, 3> dilation{};
    const bool is_flat = convolution_.num_spatial == 1;
    const uint32_t rank = is_flat ? 2 : convolution_.num_spatial;
    for (uint32_t i = 0; i < rank; ++i) {
      const bool is_added = is_flat && i == 0;
      const uint32_t from = is_flat ? 0 : i;
      stride[i] = is_added ? 1 : convolution_.stride[from];
      padding[i] = is_added ? 0 : convolution_.padding[from];
      dilation[i] = is_added ? 1 : convolution_.dilation[from];
    }
    DnnObject& description = make(kDnnConvolution);
    const DnnConvolutionKind mode = kDnnCrossCorrelation;
    const auto span = [&](const std::array<int64_t, 3>& values) {
      return std::span<const int64_t>(values).first(rank);
    };
    description.set(kDnnConvolutionSpatialDims, int64_t{rank})
        .set(kDnnConvolutionCompute, compute_)
        .set(kDnnConvolutionMode, kDnnTypeConvolutionMode, 1, &mode)
        .set(kDnnConvolutionStrides, span(stride))
        .set(kDnnConvolutionPrePads, span(padding))
        .set(kDnnConvolutionPostPads, span(padding))
        .set(kDnnConvolutionDilations, span(dilation));
    keep(description.finalize());
    const bool is_back = convolution_.is_transposed != 0;
    DnnObject& operation = make(is_back ? kDnnBackwardDataConvolution : kDnnForwardConvolution);
    // In the type that is computed in: four bytes of a double are read as 0.
    const bool is_double = compute_ == kDnnF64;
    const DnnAttributeType type = is_double ? kDnnTypeDouble : kDnnTypeFloat;
    const double one = 1;
    const double zero = 0;
    const float single_one = 1;
    const float single_zero = 0;
    const void* alpha = is_double ? static_cast<const void*>(&one) : &single_one;
    const void* beta = is_double ? static_cast<const void*>(&zero) : &single_zero;
    operation.set(is_back ? kDnnBackwardConvolutionOf : kDnnForwardConvolutionOf, description)
        .set(is_back ? kDnnBackwardW : kDnnForwardW, w)
        .set(is_back ? kDnnBackwardDy : kDnnForwardX, x)
        .set(is_back ? kDnnBackwardDx : kDnnForwardY, y)
        .set(is_back ? kDnnBackwardAlpha : kDnnForwardAlpha, type, 1, alpha)
        .set(is_back ? kDnnBackwardBeta : kDnnForwardBeta, type, 1, beta);
    keep(operation.finalize());
    operations_.push_back(operation.get());
  }

  void pointwise(DnnPointwise mode, const DnnObject& x, const DnnObject* b, const DnnObject& y) {
    DnnObject& description = make(kDnnPointwise);
    description.set(kDnnPointwiseMode, kDnnTypePointwiseMode, 1, &mode)
        .set(kDnnPointwisePrecision, compute_);
    keep(description.finalize());
    DnnObject& operation = make(kDnnPointwiseOperation);
    operation.set(kDnnPointwiseOf, description).set(kDnnPointwiseX, x);
    if (b != nullptr) operation.set(kDnnPointwiseB, *b);
    operation.set(kDnnPointwiseY, y);
    keep(operation.finalize());
    operations_.push_back(operation.get());
  }

  void keep(DnnStatus status) {
    if (first_failure_ == kDnnSuccess) first_failure_ = status;
  }

  Result<ConvolutionGraph> finish() {
    BP_TRY(library_.check(first_failure_, "an operation of a convolution"));
    result_.graph = DnnObject(library_, kDnnGraph);
    result_.graph.set(kDnnGraphHandle, kDnnTypeHandle, 1, &handle_)
        .set(kDnnGraphOperations, kDnnTypeDescriptor, static_cast<int64_t>(operations_.size()),
             operations_.data());
    BP_TRY(library_.check(result_.graph.finalize(), "the graph of a convolution"));
    return std::move(result_);
  }

  const Cudnn& library_;
  DnnHandle handle_;
  const Convolution& convolution_;
  const ConvolutionOperands& operands_;
  DnnData compute_;
  ConvolutionGraph result_;
  std::vector<DnnDescriptor> operations_;
  DnnStatus first_failure_ = kDnnSuccess;
  int64_t next_virtual_ = kFirstVirtual;
};

}  // namespace

Result<ConvolutionGraph> make_graph(const Cudnn& library, DnnHandle handle,
                                    const Convolution& convolution,
                                    const ConvolutionOperands& operands) {
  return Builder(library, handle, convolution, operands).build();
}

}  // namespace backplane::cuda
