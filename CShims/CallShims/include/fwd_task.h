#pragma once

#pragma clang assume_nonnull begin

// Values of Swift's tasks.

// Entry points of the Swift runtime that `TaskLocal.withValue` calls. A value that is pushed is the task's own until it
// is popped, by the same task and in the reverse order, with all that the task has allocated meanwhile given back.
extern __attribute__((swiftcall)) void swift_task_localValuePush(const void *key, void *value, const void *type);
extern __attribute__((swiftcall)) void swift_task_localValuePop(void);

/// Gives the current task a value of `type`, moved out of `value`, for the task-local variable `key`. One
/// `fwd_task_pop` follows, on whatever thread the task is then.
static inline void fwd_task_push(const void *key, void *value, const void *type) {
  swift_task_localValuePush(key, value, type);
}

/// Takes back the value that the current task was given last, on whatever thread the task is now. Once for each
/// `fwd_task_push`.
static inline void fwd_task_pop(void) { swift_task_localValuePop(); }

#pragma clang assume_nonnull end
