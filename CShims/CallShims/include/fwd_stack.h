#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// How much of the current thread's stack is left, in bytes; `SIZE_MAX` where that is not known: on
/// a fiber's stack, or on that of a signal.
size_t fwd_stack_left(void);

/// Whether another forwarding step may go inside of `depth` others.
int fwd_has_stack_for_step(uint32_t depth);

/// Whether a call of this plan has room on the current stack. Only plans that copy much are asked.
static inline int fwd_has_stack_for(const FWDPlanFacts *facts) {
  return __builtin_expect(facts->stack_needed == 0, 1) || fwd_stack_left() >= facts->stack_needed;
}

#pragma clang assume_nonnull end
