// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_stack.h"
#include "fwd_thread.h"

#pragma clang assume_nonnull begin

/// Removes the steps that a `longjmp` left behind, as seen from code at `stack`; returns 0 if there
/// is no such step. `thread` is the current one. The remaining steps stay in order.
int fwd_forwarding_forget_dead(FWDThread *thread, uintptr_t stack);

/// Enters a forwarding step of the current thread, for code at `stack`. One `leave` follows after
/// `Entered`, and only then. `message` is the number of the message; 0 for a question to an object,
/// such as whether it responds.
///
/// The caller keeps the object alive until it leaves. A cycle, a stack that is too small, and a
/// step beyond `FWD_FORWARDING_DEPTH` are refused. Without a thread, every step is refused as too
/// deep.
static inline FWDForwarding fwd_forwarding_enter_at(FWDThread *_Nullable thread,
                                                    const void *object, uint64_t message,
                                                    uintptr_t stack) {
  if (!thread) return FWDForwardingTooDeep;
  for (;;) {
    FWDForwarding found = FWDForwardingEntered;
    uint32_t depth = thread->depth;
    for (uint32_t i = 0; i < depth; i++)
      if (thread->steps[i].object == object && thread->steps[i].message == message)
        found = FWDForwardingCycle;
    if (__builtin_expect(depth >= FWD_FORWARDING_SHALLOW, 0)) {
      if (!fwd_has_stack_for_step(depth)) found = FWDForwardingWithoutStack;
      if (depth == FWD_FORWARDING_DEPTH) found = FWDForwardingTooDeep;
    }
    if (__builtin_expect(found == FWDForwardingEntered, 1)) {
      thread->steps[depth] = (FWDStep){object, message, stack};
      thread->depth = depth + 1;
      return found;
    }
    // The step may be a dead one: a `longjmp` left the call that it belongs to.
    if (!fwd_forwarding_forget_dead((FWDThread *)thread, stack)) return found;
  }
}

/// Enters a step for the function that this is inlined into. That function must leave the step too:
/// once it has returned, the step would count as left behind by a `longjmp`.
__attribute__((always_inline)) static inline FWDForwarding fwd_forwarding_enter(
    FWDThread *_Nullable thread, const void *object, uint64_t message) {
  return fwd_forwarding_enter_at(thread, object, message, fwd_stack_address());
}

/// Leaves the step that was entered last, on the thread that entered it. Does nothing without a
/// thread or a step.
static inline void fwd_forwarding_leave(FWDThread *_Nullable thread) {
  if (thread && thread->depth > 0) thread->depth--;
}

#pragma clang assume_nonnull end
