// SPDX-License-Identifier: Apache-2.0
#include "../plan/fwd_plan_internal.h"

#if FWD_HAS_DIRECT_ENGINE

/// Calls `function` with the registers of `frame` and `words` words of stack behind it, with
/// `result` as the address of a result in memory, and stores the registers `returns` of another
/// result in the frame. In assembly.
extern void fwd_call_stack(FWDFrame *frame, const void *function, uint64_t words, uint64_t returns,
                           void *result);

void fwd_call_direct(const FWDPlanFacts *facts, FWDFrame *frame, const void *function) {
  // A plan begins with its facts.
  const FWDPlan *plan = (const FWDPlan *)facts;
  char *memory = (char *)frame;
  if (plan->copied_count) {
    // For each call, as a callee may write into its copies.
    if (facts->stack_needed) fwd_touch_stack(plan->copied_bytes);
    char *copy = __builtin_alloca_with_align(plan->copied_bytes, 128);
    for (uint32_t i = 0; i < plan->copied_count; i++) {
      const FWDCopied *copied = &plan->copied[i];
      memcpy(copy, memory + copied->value, copied->size);
      memcpy(memory + copied->address, &copy, sizeof copy);
      copy += fwd_round_up(copied->size, 16);
    }
  }
  fwd_call_stack(frame, function, facts->stack_words, facts->returns,
                 memory + facts->result.offset);
}

#endif

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
