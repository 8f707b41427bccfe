#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

/// An event in C that nobody gets as an error.
typedef enum __attribute__((enum_extensibility(closed))) FWDEvent : uint8_t {
  /// C calls a function whose callback is freed. Told once for each freed callback; every such call
  /// answers zero.
  FWDEventFreedCallback = 0,
  /// A call of a callback finds no memory for its arguments, and answers zero.
  FWDEventCallbackWithoutMemory,
} FWDEvent;

/// Receives events, on whatever thread they happen; `function` is the function that was called. No
/// lock of this package is held meanwhile.
typedef void (*FWDEventHandler)(FWDEvent event, const void *function);

/// Writes one line to stderr, with one call of `write`, and without memory or a lock. It is the first
/// handler. A line that cannot be written is lost.
void fwd_write_event(FWDEvent event, const void *function);

/// Replaces the handler of this process, from any thread; NULL is the first one. A handler lives as
/// long as the process: a thread that has found it may call it after it is replaced.
void fwd_set_event_handler(FWDEventHandler _Nullable handler);

/// Tells the handler of an event, on this thread, and returns after it. No lock may be held, as the
/// handler may run any code.
void fwd_report_event(FWDEvent event, const void *function);

#pragma clang assume_nonnull end
