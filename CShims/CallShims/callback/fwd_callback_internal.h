#pragma once

#include "../plan/fwd_plan_internal.h"

/// Where the code of a callback finds it: two words that are never freed, so that even a call to a
/// function whose callback is gone reads something that is there.
typedef struct FWDCallbackEntry {
  /// The callback, which calls hold; NULL while there is none.
  const void *callback;
  /// The last callback here, once it is ended: it says how a call to a freed function answers.
  FWDCallback *former;
} FWDCallbackEntry;

_Static_assert(sizeof(FWDCallbackEntry) == 2 * sizeof(void *), "an entry is two words");

struct FWDCallback {
  FWDRetirable retirable;
  /// Kept until the entry is used again.
  FWDPlan *plan;
  FWDCallbackHandler handler;
  void *context;
  void (*release)(void *context);
  FWDCallbackEntry *entry;
  /// The function that leads here.
  const void *function;
  /// What libffi knows of its type; NULL for a trampoline.
  const ffi_cif *cif;
  /// The next one in the queue of freed callbacks.
  FWDCallback *next;
  /// How many use it: its maker, and calls that could not hold it.
  uint32_t users;
  FWDCallbackCode code;
  /// Whether a frame of the plan has more than registers.
  uint8_t is_large;
  /// How a trampoline returns the result.
  uint8_t how;
  /// Whether a call is its registers, and its result the first two words.
  uint8_t is_simple;
  /// Whether a call after the end was reported.
  uint8_t is_reported;
};

_Static_assert(offsetof(struct FWDCallback, retirable) == 0,
               "what is retired is found by its beginning");

#if FWD_HAS_DIRECT_ENGINE && defined(__linux__)
#define FWD_HAS_TRAMPOLINES 1
#else
#define FWD_HAS_TRAMPOLINES 0
#endif

/// Whether there is an entry that was never used. If not, `out_error` is the reason why there is none
/// now, or 0 where there will never be one. Called with the lock of callbacks held.
int fwd_trampoline_is_ready(int *out_error);

/// Takes such an entry, and its function; NULL if there is none. Called with the lock held.
FWDCallbackEntry *fwd_trampoline_fresh(const void **out_function, int *out_error);

/// Writes down what the entry has to know of a callback.
void fwd_trampoline_prepare(FWDCallback *callback);

/// Takes an entry that a closure of libffi leads to, and its function; NULL without memory. Called with
/// the lock held.
FWDCallbackEntry *fwd_closure_fresh(const void **out_function);

/// Tells libffi the type of a callback that has such an entry; 0 if it refuses.
int fwd_closure_prepare(FWDCallback *callback);

/// How a call to a function whose callback is gone answers: zero, where this result would be.
typedef struct FWDFormer {
  /// Of size 0 and nowhere, if there was no callback.
  FWDSlot result;
  const ffi_cif *cif;
} FWDFormer;

/// Finds a callback that cannot be held, and counts this call as a user of it. Returns NULL if there
/// is none; `out_former` then says how the last one answers.
FWDCallback *fwd_callback_begin_use(FWDCallbackEntry *entry, FWDFormer *out_former);

/// Returns what libffi has to know of a plan's type, in memory that is never freed: C that calls too late
/// may be in libffi, which reads it, for any time. Plans of one type share it.
ffi_cif *fwd_lasting_cif(FWDPlan *plan);

/// Ends the use of a callback that was counted.
void fwd_callback_end_use(FWDCallback *callback);

enum {
  /// Frames above this size take their memory from the heap: a thread that calls back may have
  /// little stack.
  FWD_FRAME_ON_STACK_MAX = 4096,
};
