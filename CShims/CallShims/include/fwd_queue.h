// SPDX-License-Identifier: Apache-2.0
#pragma once

#pragma clang assume_nonnull begin

// Work on the queues of libdispatch, without a block. A block of Swift's `Dispatch` takes two
// allocations, one of them for a copy of the closure that it runs.

// Functions of libdispatch, which a Swift program links. Thread-safe.
extern void dispatch_async_f(void *queue, void *_Nullable context, void (*work)(void *_Nullable context));
extern void dispatch_sync_f(void *queue, void *_Nullable context, void (*work)(void *_Nullable context));

/// Enqueues `work`, which is called once with `context`. Thread-safe. The caller retains the queue
/// until this returns; from then on the queue retains itself until the work is done.
static inline void fwd_queue_async(void *queue, void *context, void (*work)(void *_Nullable context)) {
  dispatch_async_f(queue, context, work);
}

/// A function that runs work on a queue, and returns when it is done.
typedef void (*FWDQueueSync)(void *queue, void *_Nullable context, void (*work)(void *_Nullable context));

/// Returns the function of libdispatch that runs work on a queue and waits. It does not return if
/// the current thread already runs work of a serial queue. The caller retains the queue.
static inline FWDQueueSync fwd_queue_sync(void) { return dispatch_sync_f; }

// `fwd_queue_run`, which Swift declares with a closure that does not escape, is in `queue.c`.

#pragma clang assume_nonnull end
