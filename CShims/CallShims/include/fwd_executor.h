// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The executors on which Swift tasks run.

/// A serial executor, as the Swift runtime passes one.
typedef struct {
  uintptr_t identity;
  uintptr_t implementation;
} FWDExecutor;

// The entry point of the Swift runtime behind `assumeIsolated`. Thread-safe. With flags of 0 it may
// return false; with others it may trap instead.
extern __attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(FWDExecutor executor,
                                                                             uint64_t flags);

/// Returns whether the current thread runs on an executor, also for a thread without a task. The
/// caller retains the executor's owner. The answer is valid until the caller suspends.
static inline bool fwd_is_current_executor(FWDExecutor executor) {
  return swift_task_isCurrentExecutorWithFlags(executor, 0);
}
