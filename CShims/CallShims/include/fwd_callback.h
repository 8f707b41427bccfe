// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// Handles a call: reads the arguments from `frame`, and writes the result to the result's slot,
/// which is initially zero.
typedef void (*FWDCallbackHandler)(void *context, FWDFrame *frame);

/// What the calls of a function pointer run.
typedef struct FWDCallbackBody {
  /// Answers a call from its frame.
  FWDCallbackHandler handler;
  /// A Swift function that takes six integer and eight vector registers, and returns two of each or
  /// throws, with the context of its closure. It answers calls without a frame. NULL if arguments or the
  /// result are elsewhere, or one of another type.
  const void *_Nullable direct;
  const void *_Nullable direct_context;
  /// Takes an error of the direct function. C then gets zero.
  void (*_Nullable fail)(void *context, void *error);
  void *context;
  void (*release)(void *context);
} FWDCallbackBody;

/// A C function pointer that calls a body.
typedef struct FWDCallback FWDCallback;

/// Creates a function pointer with the type of `plan`. A call runs `handler(context, frame)`, or the
/// direct function, on the calling thread. The frame is valid while the handler runs.
///
/// The callback retains the memory of `plan`, and takes ownership of `context`: `release(context)`
/// is called once, after `fwd_callback_destroy`, when the last call of the handler has ended, on
/// the thread of that call. Returns NULL if no code or memory can be allocated; then it takes no
/// ownership, does not call `release`, and sets `out_error` to the `errno` of the failure.
/// Thread-safe.
FWDCallback *_Nullable fwd_callback_create(FWDPlan *plan, FWDCallbackBody body,
                                           const void *_Nullable *_Nonnull out_function,
                                           int *out_error);

/// Destroys a callback, whose function pointer must no longer be called. A call that has already
/// found the callback runs to its end. Any other call answers zero, and the first such call is
/// reported, until the function is used for another callback; functions that were freed earlier are
/// reused first.
///
/// Called once for each callback, also from its own handler. The caller must hold no lock:
/// `release` may run during the call. The function's code and its entry in the data page are never
/// freed.
void fwd_callback_destroy(FWDCallback *callback);

/// Gives a callback to C code, which ends it with `fwd_callback_release` or, if `by_call` is set, with
/// its only call; a later call is one to a destroyed callback. `owner` is a retained object of Swift,
/// which is released at that end. Returns what `fwd_callback_release` takes, for any time; NULL if C has the
/// callback already. Called before C has the function.
void *_Nullable fwd_callback_give(FWDCallback *callback, void *owner, int by_call);

/// Ends a callback that C has. Does nothing, and reports that, if it has ended before. Thread-safe; also
/// from its own handler. The caller must hold no lock.
void fwd_callback_release(void *_Nullable given);

// `fwd_scope_run`, which Swift declares with closures that do not escape, is in `scope.c`.

/// The source of the code for callbacks.
typedef enum __attribute__((enum_extensibility(closed))) FWDCallbackCode : uint8_t {
  /// A page of the program's own file, mapped again. No page is both writable and executable.
  FWDCallbackCodeTrampolines = 0,
  /// libffi, which may map a page that is writable and executable.
  FWDCallbackCodeLibffi,
  /// Trampolines whose calls make no frame.
  FWDCallbackCodeDirect,
} FWDCallbackCode;

/// Returns the code that the next callback will use. If no trampoline is free, it maps a page of
/// them to find out; a temporary shortage of memory does not count. Thread-safe.
FWDCallbackCode fwd_callback_code(void);

/// Uses libffi for all callbacks created from now on, for comparison in tests; 0 undoes that. It
/// applies to all threads, and does not change existing callbacks.
void fwd_callback_prefer_libffi(int prefer);

#pragma clang assume_nonnull end
