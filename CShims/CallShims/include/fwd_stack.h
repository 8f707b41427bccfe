// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// Returns the remaining bytes of the current thread's stack. Returns `SIZE_MAX` if the number is
/// unknown: on the stack of a fiber or a signal handler, and on systems other than Linux. The first
/// call of a thread may read a file.
size_t fwd_stack_left(void);

/// Returns whether the stack has room for another forwarding step inside `depth` others. The first
/// few steps do not call it.
int fwd_has_stack_for_step(uint32_t depth);

/// Returns whether the current stack has room for a call of this plan. Only plans that copy much
/// are checked: before each call, in the calling function.
static inline int fwd_has_stack_for(const FWDPlanFacts *facts) {
  return __builtin_expect(facts->stack_needed == 0, 1) || fwd_stack_left() >= facts->stack_needed;
}

#pragma clang assume_nonnull end
