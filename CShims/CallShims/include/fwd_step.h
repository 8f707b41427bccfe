// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_stack.h"
#include "fwd_thread.h"

#pragma clang assume_nonnull begin

/// Enters a forwarding step of the current thread. One `leave` follows after `Entered`, and only then.
/// `message` is the number of the message; 0 for a question to an object, such as whether it responds.
///
/// The caller keeps the object alive until it leaves. A cycle, a stack that is too small, and a
/// step beyond `FWD_FORWARDING_DEPTH` are refused. Without a thread, every step is refused as too
/// deep.
static inline FWDForwarding fwd_forwarding_enter(FWDThread *_Nullable thread, const void *object,
                                                 uint64_t message) {
  if (!thread) return FWDForwardingTooDeep;
  uint32_t depth = thread->depth;
  if (__builtin_expect(depth >= FWD_FORWARDING_SHALLOW, 0)) {
    if (depth == FWD_FORWARDING_DEPTH) return FWDForwardingTooDeep;
    if (!fwd_has_stack_for_step(depth)) return FWDForwardingWithoutStack;
  }
  for (uint32_t i = 0; i < depth; i++)
    if (thread->steps[i].object == object && thread->steps[i].message == message)
      return FWDForwardingCycle;
  thread->steps[depth] = (FWDStep){object, message};
  thread->depth = depth + 1;
  return FWDForwardingEntered;
}

/// Leaves the step that was entered last, on the thread that entered it. Does nothing without a
/// thread or a step.
static inline void fwd_forwarding_leave(FWDThread *_Nullable thread) {
  if (thread && thread->depth > 0) thread->depth--;
}

#pragma clang assume_nonnull end
