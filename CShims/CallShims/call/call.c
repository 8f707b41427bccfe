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
    // Freed when this returns.
    volatile char *page = __builtin_alloca(PAGE);
    *page = 0;
  }
}

#if !FWD_HAS_DIRECT_ENGINE

FWDCaller fwd_direct_caller(uint8_t shape) {
  // No plan of this platform says that its engine is direct.
  (void)shape;
  return fwd_call_libffi;
}

#endif
