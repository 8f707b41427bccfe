// SPDX-License-Identifier: Apache-2.0
#pragma once

#pragma clang assume_nonnull begin

// Task-local values of Swift tasks.

// Entry points of the Swift runtime that `TaskLocal.withValue` calls. A value that is pushed
// belongs to the task until the same task pops it. Pops are in reverse order, after all that the
// task has allocated since the push is freed.
extern __attribute__((swiftcall)) void swift_task_localValuePush(const void *key, void *value, const void *type);
extern __attribute__((swiftcall)) void swift_task_localValuePop(void);

/// Sets the task-local variable `key` of the current task to a value of `type`, moved out of
/// `value`. One `fwd_task_pop` follows, on whatever thread the task runs on then.
static inline void fwd_task_push(const void *key, void *value, const void *type) {
  swift_task_localValuePush(key, value, type);
}

/// Removes the value that was pushed last by the current task, on whatever thread the task runs on
/// now. Called once for each `fwd_task_push`.
static inline void fwd_task_pop(void) { swift_task_localValuePop(); }

#pragma clang assume_nonnull end
