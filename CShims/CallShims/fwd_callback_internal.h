#pragma once

#include "fwd_plan_internal.h"

struct FWDCallback {
  const FWDPlan *plan;
  FWDCallbackHandler handler;
  void *context;
  void (*release)(void *context);
  /// Where calls find this callback, and hold it: a trampoline's data, or `self`.
  const void **place;
  const void *self;
  /// NULL for a trampoline.
  ffi_closure *closure;
  /// Whether a frame of the plan has more than registers.
  uint8_t is_large;
  /// How a trampoline gives the result back.
  uint8_t how;
  /// Whether a call is its registers, and its result the first two words.
  uint8_t is_simple;
};

#if FWD_HAS_DIRECT_ENGINE && defined(__linux__)
#define FWD_HAS_TRAMPOLINES 1
#else
#define FWD_HAS_TRAMPOLINES 0
#endif

/// Finds a trampoline that is free, and points its data at `callback`, which is complete but for
/// what this fills in. NULL if there is none.
const void *fwd_trampoline_take(FWDCallback *callback);

/// Takes back the trampoline whose data is at `place`.
void fwd_trampoline_give_back(const void **place);

/// Whether there is a trampoline to be had.
int fwd_trampolines_work(void);
