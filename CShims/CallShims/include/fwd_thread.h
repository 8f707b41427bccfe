#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

/// How many forwarding steps may be inside of each other on one thread.
enum { FWD_FORWARDING_DEPTH = 200 };

typedef enum __attribute__((enum_extensibility(closed))) FWDForwarding : uint8_t {
  FWDForwardingEntered = 0,
  /// The same object is forwarding the same message already.
  FWDForwardingCycle,
  FWDForwardingTooDeep,
} FWDForwarding;

/// Enters a forwarding step of this thread. After `Entered`, and only then, one `leave` follows.
/// `message` is the number of the message; a question that is asked of an object has 0.
FWDForwarding fwd_forwarding_enter(const void *object, uintptr_t message);

/// Leaves the step that was entered last.
void fwd_forwarding_leave(void);

#pragma clang assume_nonnull end
