#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// Answers a call: finds the arguments in `frame` and leaves a result in the result's slot, which
/// is zero at first.
typedef void (*FWDCallbackHandler)(void *context, FWDFrame *frame);

/// A C function pointer that enters a handler.
typedef struct FWDCallback FWDCallback;

/// Makes a function pointer of `plan`'s type that calls `handler(context, frame)` on whatever
/// thread it is called. The callback takes `context` over: `release(context)` is called once, when
/// nobody is in the handler any more. Returns NULL where there is no code; then nothing is taken
/// over, and `out_error` is the `errno` that says why.
FWDCallback *_Nullable fwd_callback_create(FWDPlan *plan, FWDCallbackHandler handler, void *context,
                                           void (*release)(void *context),
                                           const void *_Nullable *_Nonnull out_function,
                                           int *out_error);

/// Ends a callback, whose function pointer must not be called any more. A call that has found the
/// callback runs to its end. Every other one answers zero, and the first is reported, until the
/// function is used again; functions freed earlier are used first.
void fwd_callback_destroy(FWDCallback *callback);

/// Where the code of callbacks comes from.
typedef enum __attribute__((enum_extensibility(closed))) FWDCallbackCode : uint8_t {
  /// A page of this program's own file, mapped once more. Nothing is writable and executable.
  FWDCallbackCodeTrampolines = 0,
  /// libffi, which may map a page that is both.
  FWDCallbackCodeLibffi,
} FWDCallbackCode;

/// What the next callback will use.
FWDCallbackCode fwd_callback_code(void);

/// Makes callbacks of libffi from here on, for tests to compare with; 0 takes that back.
void fwd_callback_prefer_libffi(int prefer);

#pragma clang assume_nonnull end
