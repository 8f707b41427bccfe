#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// Returns how much of the current thread's stack is left, in bytes; `SIZE_MAX` where that is not
/// known: on a fiber's stack, on that of a signal, and on systems other than Linux. The first question
/// of a thread may read a file.
size_t fwd_stack_left(void);

/// Says whether the stack has room for another forwarding step inside of `depth` others. The first few
/// steps are not asked for.
int fwd_has_stack_for_step(uint32_t depth);

/// Says whether a call of this plan has room on the current stack. Only plans that copy much are asked;
/// they are asked before each call, in the function that calls.
static inline int fwd_has_stack_for(const FWDPlanFacts *facts) {
  return __builtin_expect(facts->stack_needed == 0, 1) || fwd_stack_left() >= facts->stack_needed;
}

#pragma clang assume_nonnull end
