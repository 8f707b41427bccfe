// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

/// An event in C code that no caller gets as an error.
typedef enum __attribute__((enum_extensibility(closed))) FWDEvent : uint8_t {
  /// C called a function whose callback was destroyed. Reported once for each destroyed callback;
  /// every such call answers zero.
  FWDEventFreedCallback = 0,
  /// There was no memory for the arguments of a callback's call, which answers zero.
  FWDEventCallbackWithoutMemory,
} FWDEvent;

/// Receives events, on the thread where they occur; `function` is the function that was called. No
/// lock of this package is held during the call.
typedef void (*FWDEventHandler)(FWDEvent event, const void *function);

/// Writes one line to stderr, with a single call of `write`, without allocating or locking. It is
/// the default handler. A line that cannot be written is lost.
void fwd_write_event(FWDEvent event, const void *function);

/// Replaces the handler of this process; NULL restores the default one. A handler must live as long
/// as the process: a thread that has read it may call it after it was replaced. Thread-safe.
void fwd_set_event_handler(FWDEventHandler _Nullable handler);

/// Calls the handler, on this thread, and returns after it. The caller must hold no lock, because
/// the handler may run any code.
void fwd_report_event(FWDEvent event, const void *function);

#pragma clang assume_nonnull end
