// How a view looks at the tensor that it is of, and how writing it changes that tensor.
//
// A view is a chain of steps of few kinds, whatever operator made it: `real` is a step as_real and
// a step select. Each step can be taken forwards (what the view shows, now) and backwards (the
// viewed tensor after the view was overwritten).
#pragma once

#include <cstdint>
#include <vector>

#include "passes/rewriter.hpp"

namespace backplane::passes {

struct ViewStep {
  enum class Kind : uint8_t {
    reshape,   // sizes
    expand,    // sizes
    permute,   // args: order
    select,    // args: dim, index
    slice,     // args: dim, start, end, step
    section,   // args: dim; sizes: start, end
    diagonal,  // args: offset, dim1, dim2
    strided,   // args: size, stride, storage_offset, all of a row-major tensor
    bits,      // args: dtype; the same bytes
    as_real,
    as_complex,
    conj,
    neg,
  };
  Kind kind;
  std::vector<Argument> args{};
  std::vector<SymInt> sizes{};
};

struct View {
  enum class Relation : uint8_t {
    none,     // new memory
    same,     // the operand itself
    view,     // of the operand, by `steps`
    unknown,  // perhaps; or a view that can't be written as steps
  };
  Relation relation = Relation::none;
  ValueId of = kNone;
  std::vector<ViewStep> steps{};
};

// What each result of a node is to its operands, in eager PyTorch. Operands and results have the
// types and strides of the exported program, `node` is bound to its schema. Whether reshape,
// contiguous, to and the like copy follows from the strides.
[[nodiscard]] std::vector<View> views_of(Rewriter& rewriter, const Node& node);

// Emits what the view shows of `whole`.
ValueRef take(Rewriter& rewriter, const ViewStep& step, ValueRef whole);

// Emits `whole` after its view by `step` became `part`. unsupported: elements of the view share
// memory.
ValueRef put(Rewriter& rewriter, const ViewStep& step, ValueRef whole, ValueRef part);

// Whether `next` takes one of the equal copies that `expand` makes of `whole` along a dimension;
// and the steps that give the same without making them.
[[nodiscard]] bool is_select_of_copies(Rewriter& rewriter, const TensorType& whole,
                                       const ViewStep& expand, const ViewStep& next);
[[nodiscard]] std::vector<ViewStep> select_before_expand(const TensorType& whole,
                                                         const ViewStep& expand,
                                                         const ViewStep& select);

// Whether a tensor of this type can be viewed with other sizes without a copy; nothing if that
// depends on sizes that are not known.
[[nodiscard]] std::optional<bool> can_reshape_in_place(SymbolTable& symbols, const TensorType& type,
                                                       std::span<const SymInt> sizes);

// Dimensions from the outermost in memory to the innermost.
[[nodiscard]] std::vector<size_t> memory_order(size_t rank, MemoryFormat format);

// How many elements of memory lie before the first one of a view of `whole`; nothing if unknown.
[[nodiscard]] std::optional<SymInt> first_element(SymbolTable& symbols, const TensorType& whole,
                                                  std::span<const ViewStep> steps);

// Whether `type` has the strides of `format`, dimensions of size 1 not counted; nothing if unknown.
[[nodiscard]] std::optional<bool> has_format(SymbolTable& symbols, const TensorType& type,
                                             MemoryFormat format);

}  // namespace backplane::passes
