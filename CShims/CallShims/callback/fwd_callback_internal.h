// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include "../call/fwd_layout.h"
#include "../plan/fwd_plan_internal.h"

/// The lock of all callbacks; a leaf, like `fwd_threads_lock`.
extern pthread_mutex_t fwd_callbacks_lock;

/// The data of a trampoline: what its calls go to, a function of Swift's calling convention that takes the
/// registers of a C call, and its context. Never freed.
typedef struct FWDTrampoline {
  const void *function;
  uintptr_t context;
} FWDTrampoline;

/// The two words through which code finds its callback. They are never freed, so that even a call
/// to a function whose callback was destroyed reads valid memory.
typedef struct FWDCallbackEntry {
  /// The callback, which calls hold; NULL without one.
  const void *callback;
  /// The last callback of this entry, after it was destroyed: it determines how a call to a freed
  /// function answers.
  FWDCallback *former;
} FWDCallbackEntry;

struct FWDCallback {
  FWDRetirable retirable;
  /// Retained until the entry is reused.
  FWDPlan *plan;
  FWDCallbackBody body;
  FWDCallbackEntry *entry;
  /// The function pointer of this callback.
  const void *function;
  /// libffi's description of its type; NULL for a trampoline.
  const void *type;
  /// The next one in the queue of freed callbacks.
  FWDCallback *next;
  /// What is released when C ends the callback; NULL if it does not, or has.
  void *owner;
  /// What C ends it with.
  uintptr_t given;
  /// The number of users: the creator, and calls that could not hold the callback.
  uint32_t users;
  FWDCallbackCode code;
  /// Whether a frame of the plan has more than registers.
  uint8_t is_large;
  /// The registers of the result.
  uint8_t returns;
  /// Whether all values are in registers, and calls do not end the callback.
  uint8_t is_simple;
  /// Whether a call after the end was reported.
  uint8_t is_reported;
  /// Whether C ends the callback by calling it.
  uint8_t ends_by_call;
};

_Static_assert(offsetof(struct FWDCallback, retirable) == 0,
               "a retired callback is found by its first bytes");

/// Whether there is an unused trampoline. If not, `out_error` is the reason for a temporary failure, or 0
/// if there will never be one. The caller holds the callbacks lock.
int fwd_trampoline_is_ready(int *out_error);

/// Takes an unused trampoline; NULL without one. The caller holds the callbacks lock.
FWDTrampoline *fwd_trampoline_fresh(int *out_error);

/// The function whose data is at an address.
static inline const void *fwd_trampoline_function(const void *data) {
  return (const char *)data - FWD_TRAMPOLINE_APART;
}

/// Makes an entry of a callback, and sets the function that finds it; NULL, with the reason as above,
/// without a trampoline or memory. The caller holds the callbacks lock.
FWDCallbackEntry *fwd_trampoline_enter_at(FWDCallback *callback, int *out_error);

/// Stores the facts about a callback that the entry code needs.
void fwd_trampoline_prepare(FWDCallback *callback);

/// Takes an unused entry of a libffi closure and its function; NULL without memory. The caller
/// holds the callbacks lock.
FWDCallbackEntry *fwd_closure_fresh(const void **out_function);

/// Sets the type of a callback with such an entry in libffi; 0 if libffi refuses.
int fwd_closure_prepare(FWDCallback *callback);

/// Returns libffi's description of a plan's type, in memory that is never freed; NULL, with the
/// reason, if libffi refuses the plan or there is no memory.
const void *fwd_closure_type(FWDPlan *plan, int *out_error);

/// Finds a callback that cannot be held, and counts this call as one of its users. Returns NULL if
/// there is no callback; `out_result` is then the result of the last one, for which the call answers
/// zero, or nowhere if there was none.
FWDCallback *fwd_callback_begin_use(FWDCallbackEntry *entry, FWDSlot *out_result);

/// Begins the only call of a callback: returns its owner, which is released after the call. Returns NULL,
/// and reports that, if there was a call before.
void *fwd_callback_begin_only_call(const FWDCallback *callback);

/// Answers a call from its frame, whose result is zero.
void fwd_callback_answer(const FWDCallback *callback, FWDFrame *frame);

/// Whether trampolines may be used.
int fwd_trampolines_are_allowed(void);

/// Ends a counted use of a callback.
void fwd_callback_end_use(FWDCallback *callback);

enum {
  /// Larger frames are allocated on the heap: a thread that calls back may have little stack.
  FWD_FRAME_ON_STACK_MAX = 4096,
};
