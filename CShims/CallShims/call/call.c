// SPDX-License-Identifier: Apache-2.0
#include "../plan/fwd_plan_internal.h"

int fwd_call_capturing_errno(const FWDPlanFacts *facts, FWDInvocationState *state,
                             const void *function) {
  errno = 0;
  fwd_call_in_use(facts, state, function);
  return errno;
}

__attribute__((noinline)) void fwd_touch_stack(size_t size) {
  enum { PAGE = 4096 };
  for (size_t done = 0; done < size; done += PAGE) {
    // The memory is freed when this function returns.
    volatile char *page = __builtin_alloca(PAGE);
    *page = 0;
  }
}
