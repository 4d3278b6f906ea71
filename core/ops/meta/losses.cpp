// Losses over classes, and distances between the rows of a matrix.
#include <array>

#include "ops/meta/call.hpp"

namespace backplane::ops::meta {
namespace {

// One number for each target, or one alone if they are reduced; then the weight that they had.
void likelihood(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const TensorType& target = call.tensor("target");
  call.expect_rank(self, 1, 4, "self");
  if (!call.ok()) return;
  const bool each = call.literal("reduction") == 0;
  call.add(self.dtype, each ? target.sizes : Sizes());
  call.add(self.dtype, {});
}

// Which elements are targets comes second.
void multilabel_margin(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.expect_rank(self, 0, 2, "self");
  if (!call.ok()) return;
  const bool each = call.literal("reduction") == 0 && self.sizes.size() == 2;
  call.add(self.dtype, each ? Sizes{self.sizes[0]} : Sizes());
  call.add(self.dtype, call.tensor("target").sizes);
}

// [steps, batch, classes]; the second result holds the sums of all prefixes.
void ctc(Call& call, const Family&) {
  const TensorType& self = call.tensor("log_probs");
  call.expect_rank(self, 2, 3, "log_probs");
  if (!call.ok()) return;
  const bool batched = self.sizes.size() == 3;
  const SymInt batch = batched ? self.sizes[1] : SymInt(1);
  SymInt longest = 0;
  if (const TensorType& targets = call.tensor("targets"); targets.sizes.size() == 2)
    longest = targets.sizes[1];
  if (longest == SymInt(0) && call.node().op == "aten::_ctc_loss") {
    for (const int64_t length : call.literals("target_lengths"))
      longest = call.symbols().max(longest, length);
  }
  call.add(self.dtype, batched ? Sizes{batch} : Sizes());
  call.add(self.dtype, {batch, self.sizes[0], call.plus(call.times(2, longest), 1)});
}

void pdist(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.expect_rank(self, 2, 2, "self");
  if (!call.ok()) return;
  const SymInt n = self.sizes[0];
  call.add(self.dtype, {call.symbols().floor_div(call.times(n, call.minus(n, 1)), 2)});
}

void like_self(Call& call, const Family&) {
  call.add(call.tensor("self"));
}

constexpr std::array kRules = {
    Family{"nll_loss_forward nll_loss2d_forward", likelihood},
    Family{"multilabel_margin_loss_forward", multilabel_margin},
    Family{"_ctc_loss", ctc},
    Family{"_pdist_forward", pdist},
    Family{"uniform", like_self},
};

}  // namespace

std::span<const Family> loss_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
