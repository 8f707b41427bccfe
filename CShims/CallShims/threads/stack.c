// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include "CForwardingShims.h"

int fwd_has_stack_for_step(uint32_t depth) {
  return depth < FWD_FORWARDING_SHALLOW || fwd_stack_left() >= FWD_FORWARDING_STACK;
}

/// The bounds of the thread's stack. Determined once, because for the first thread they are read
/// from a file.
static _Thread_local struct {
  uintptr_t low, high;
} bounds;

static void find_bounds(void) {
  pthread_attr_t attributes;
  void *start = NULL;
  size_t size = 0, guard = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    // C libraries differ in whether the guard is part of the stack; it is small.
    if (pthread_attr_getstack(&attributes, &start, &size) != 0) size = 0;
    if (pthread_attr_getguardsize(&attributes, &guard) != 0 || guard > size) guard = 0;
    pthread_attr_destroy(&attributes);
  }
  bounds.low = (uintptr_t)start + guard;
  // Without a result, no address is within the bounds, and they are not determined again.
  bounds.high = size ? (uintptr_t)start + size : 1;
}

size_t fwd_stack_left(void) {
  if (bounds.high == 0) find_bounds();
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here >= bounds.high || here < bounds.low ? SIZE_MAX : here - bounds.low;
}
