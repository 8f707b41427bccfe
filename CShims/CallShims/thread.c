/// Who is forwarding what on this thread: a short stack without locks or allocation.
#include "fwd_plan_internal.h"

typedef struct Step {
  const void *object;
  uintptr_t message;
} Step;

static _Thread_local Step steps[FWD_FORWARDING_DEPTH];
static _Thread_local uint32_t depth;

FWDForwarding fwd_forwarding_enter(const void *object, uintptr_t message) {
  for (uint32_t i = 0; i < depth; i++)
    if (steps[i].object == object && steps[i].message == message) return FWDForwardingCycle;
  if (depth == FWD_FORWARDING_DEPTH) return FWDForwardingTooDeep;
  steps[depth++] = (Step){object, message};
  return FWDForwardingEntered;
}

void fwd_forwarding_leave(void) {
  if (depth > 0) depth--;
}
