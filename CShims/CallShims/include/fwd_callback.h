#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// Answers a call: finds the arguments in `frame` and leaves a result in the result's slot, which
/// is zero at first.
typedef void (*FWDCallbackHandler)(void *context, FWDFrame *frame);

/// A C function pointer that enters a handler.
typedef struct FWDCallback FWDCallback;

/// Makes a function pointer of `plan`'s type that calls `handler(context, frame)` on whatever
/// thread it is called. The frame lives as long as the handler runs.
///
/// The callback keeps `plan` for itself, and takes `context` over: `release(context)` is called once,
/// after `fwd_callback_destroy`, when nobody is in the handler any more, on the thread that is last.
/// Returns NULL where there is no code or no memory; then nothing is taken over, `release` is not
/// called, and `out_error` is the `errno` that says why. Any thread may call this.
FWDCallback *_Nullable fwd_callback_create(FWDPlan *plan, FWDCallbackHandler handler, void *context,
                                           void (*release)(void *context),
                                           const void *_Nullable *_Nonnull out_function,
                                           int *out_error);

/// Ends a callback, whose function pointer must not be called any more. A call that has found the
/// callback runs to its end. Every other one answers zero, and the first is reported, until the
/// function is used again; functions freed earlier are used first.
///
/// Called once for each callback, which its own handler may do. No lock may be held: `release` may
/// run now. The code and the entry it leads to are never freed.
void fwd_callback_destroy(FWDCallback *callback);

/// Where the code of callbacks comes from.
typedef enum __attribute__((enum_extensibility(closed))) FWDCallbackCode : uint8_t {
  /// A page of this program's own file, mapped once more. Nothing is writable and executable.
  FWDCallbackCodeTrampolines = 0,
  /// libffi, which may map a page that is both.
  FWDCallbackCodeLibffi,
} FWDCallbackCode;

/// Returns what the next callback will use, from any thread. Where no trampoline is left, one page of
/// them is mapped to find out; a shortage of the moment does not count.
FWDCallbackCode fwd_callback_code(void);

/// Makes callbacks of libffi from here on, for tests to compare with; 0 takes that back. It is for
/// all threads, and changes no callback that there is.
void fwd_callback_prefer_libffi(int prefer);

#pragma clang assume_nonnull end
