// SPDX-License-Identifier: Apache-2.0
#pragma once

#pragma clang assume_nonnull begin

// Task-local values of Swift tasks.

// Entry points of the Swift runtime that `TaskLocal.withValue` and its getter call. A value that is pushed
// belongs to the task until the same task pops it. Pops are in reverse order, after all that the
// task has allocated since the push is freed.
extern __attribute__((swiftcall)) void swift_task_localValuePush(const void *key, void *value, const void *type);
extern __attribute__((swiftcall)) void swift_task_localValuePop(void);
extern __attribute__((swiftcall)) void *_Nullable swift_task_localValueGet(const void *key);

/// Sets the task-local variable `key` of the current task to a value of `type`, moved out of
/// `value`. One `fwd_task_pop` follows, on whatever thread the task runs on then.
static inline void fwd_task_push(const void *key, void *value, const void *type) {
  swift_task_localValuePush(key, value, type);
}

/// Removes the value that was pushed last by the current task, on whatever thread the task runs on
/// now. Called once for each `fwd_task_push`.
static inline void fwd_task_pop(void) { swift_task_localValuePop(); }

/// Returns where the value of the task-local variable `key` is stored; NULL if it has no value. A task
/// that another one awaits as its child finds the place of its parent, and any other task has copies.
static inline const void *_Nullable fwd_task_value(const void *key) { return swift_task_localValueGet(key); }

#pragma clang assume_nonnull end
