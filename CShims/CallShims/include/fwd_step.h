#pragma once

#include "fwd_stack.h"
#include "fwd_thread.h"

#pragma clang assume_nonnull begin

/// Forgets the steps that a jump left behind, as seen from code at `stack`; 0 if there are none.
/// `thread` is the current one. What is left keeps its order.
int fwd_forwarding_forget_dead(FWDThread *thread, uintptr_t stack);

/// Enters a forwarding step of the current thread, for code at `stack`. After `Entered`, and only
/// then, one `leave` follows. `message` is the number of the message; a question that is asked of an
/// object has 0.
///
/// The caller keeps the object alive until it leaves. A cycle, a stack that is too small, and the step
/// beyond `FWD_FORWARDING_DEPTH` are refused; so is every step without a thread, as too deep.
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
    // A step may be one that never ended, because a jump left the call it belongs to.
    if (!fwd_forwarding_forget_dead((FWDThread *)thread, stack)) return found;
  }
}

/// Enters a step in the same way, for the function that this is part of. That function leaves the step
/// too: once it has returned, the step would count as left behind by a jump.
__attribute__((always_inline)) static inline FWDForwarding fwd_forwarding_enter(
    FWDThread *_Nullable thread, const void *object, uint64_t message) {
  return fwd_forwarding_enter_at(thread, object, message, fwd_stack_address());
}

/// Leaves the step that was entered last, on the thread that entered it. Without a thread or a step
/// nothing happens.
static inline void fwd_forwarding_leave(FWDThread *_Nullable thread) {
  if (thread && thread->depth > 0) thread->depth--;
}

#pragma clang assume_nonnull end
