#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// Answers a call: finds the arguments in `frame` and leaves a result in the result's slot.
typedef void (*FWDCallbackHandler)(void *context, FWDFrame *frame);

/// A C function pointer that enters a handler.
typedef struct FWDCallback FWDCallback;

/// Makes a function pointer of `plan`'s type that calls `handler(context, frame)` on whatever
/// thread it is called. The plan must outlive the callback. NULL where no executable memory is
/// to be had.
FWDCallback *_Nullable fwd_callback_create(const FWDPlan *plan, FWDCallbackHandler handler,
                                           void *context,
                                           const void *_Nullable *_Nonnull out_function);

/// Frees a callback, whose function pointer must not be called any more.
void fwd_callback_destroy(FWDCallback *callback);

#pragma clang assume_nonnull end
