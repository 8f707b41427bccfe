#pragma once

#include <stdbool.h>
#include <stdint.h>

// Where Swift's tasks run.

/// A serial executor, as the Swift runtime passes one.
typedef struct {
  uintptr_t identity;
  uintptr_t implementation;
} FWDExecutor;

// The entry point of the Swift runtime that `assumeIsolated` asks, from any thread. With flags of 0, no is an
// answer; with others it may be a reason to trap.
extern __attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(FWDExecutor executor,
                                                                             uint64_t flags);

/// Returns whether the current thread works for an executor. The caller keeps its owner, and the answer is
/// good for as long as the caller does not suspend; any thread may ask, those without a task as well.
static inline bool fwd_is_current_executor(FWDExecutor executor) {
  return swift_task_isCurrentExecutorWithFlags(executor, 0);
}
