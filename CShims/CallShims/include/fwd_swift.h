// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// These functions do not count references to Objective-C objects, and would corrupt such an object.
#if defined(__APPLE__)
#error "swift-forwarding does not know the objects of Objective-C yet"
#endif

#pragma clang assume_nonnull begin

// What this package relies on in Swift's runtime and compiler beyond the language: entry points, layouts
// and bits. `SwiftRuntime` probes it before the first plan or target of the process, and ends the program
// with a sentence if something differs. Of how C calls closures it probes the sizes, and calls on a queue.
//
// These are in Swift code:
//
// | where | what | who else relies on it |
// |---|---|---|
// | `SystemQueue` | the mirror of a `DispatchQueue` tells its address; else it is called with blocks | nobody |
// | `fwd_queue_run`, `fwd_scope_run` | a closure that does not escape is passed as two words | `swiftcall` of clang |
// | `Answer.Direct` | a stored closure is its function and its context | `swift_context` of clang |
// | `reportError` | an error is one word | `swift_error_result` of clang |
// | `IsolatedBody` | a closure of an actor differs from another one in its type alone | `assumeIsolated` |
// | `Guarded`, `AwaitedStep` | the first property of an object follows its header | all compiled code |
// | `fwd_word_widen` | the second word of a missing `String` is zero, and of no other | all compiled code |

// MARK: Objects
//
// For: targets that are not retained. A `weak` variable is slower to load, and makes every later retain of
// its object slower. The runtime's unowned count, which `unowned` variables use, preserves only the
// memory of a dead object, all of it, until the last such reference is released. A try to retain the
// object returns NULL once its deinitialization has begun: the behavior of `weak`, for two locked
// instructions.
// Who else: all compiled code calls these, and finds its stored properties behind this header.

_Static_assert(sizeof(void *) == sizeof(uint64_t), "an object begins with its class, in one word");

enum {
  /// The size of an object's header: its class, and its reference counts.
  FWD_OBJECT_HEADER = 16,
};

// Thread-safe. Each `retain` is balanced by one `release` of its kind. The last `swift_release` runs
// `deinit`: the caller must hold no lock.
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern void *_Nullable swift_tryRetain(void *object);
extern void *swift_retain(void *object);
extern void swift_release(void *object);

// Returns whether the deinitialization of an object has begun. Thread-safe; the answer may be
// outdated on return. The caller retains the memory of the object.
extern _Bool swift_isDeallocating(void *object);

// The numbers of references to an object, which are 1 for an object with one strong reference: the strong
// ones hold one of the unowned, and those one of the weak. Thread-safe; outdated on return, unless the
// only reference is the caller's.
extern size_t swift_retainCount(void *object);
extern size_t swift_unownedRetainCount(void *object);
extern size_t swift_weakRetainCount(void *object);

/// Returns whether the caller's strong reference to an object is the only one, and no weak or unowned one
/// could become another.
static inline int fwd_object_is_sole(void *object) {
  return swift_retainCount(object) == 1 && swift_unownedRetainCount(object) == 1 &&
         swift_weakRetainCount(object) == 1;
}

// MARK: Protocols
//
// For: the global actor of a class's conformance to a protocol, as in `final class Screen: @MainActor
// Ticking`. The compiler rejects calls through such a conformance from elsewhere, but it does not see
// messages. And for proxies, which take the witness table out of a value of a protocol for objects: its
// second word.
// Who else: all compiled code has such values; `as?` calls the search; debuggers and reflection read the
// metadata and the flags, which have been the same since Swift 5 and 6.2.

/// Returns whether a conformance is isolated to a global actor: bit 19 of the flags in the
/// descriptor to which the first word of a witness table points. The caller got the table from
/// Swift.
static inline bool fwd_conformance_is_isolated(const void *witness_table) {
  const char *descriptor;
  uint32_t flags;
  memcpy(&descriptor, witness_table, sizeof descriptor);
  memcpy(&flags, descriptor + 12, sizeof flags);
  return flags >> 19 & 1;
}

/// Returns the protocol of an existential type; NULL for another type, or for several protocols.
/// The caller got the type from Swift.
static inline const void *_Nullable fwd_existential_protocol(const void *type) {
  struct {
    uintptr_t kind;
    uint32_t flags, count;
    const void *_Nullable first[2];
  } existential;
  memcpy(&existential, type, sizeof existential.kind);
  // Metadata of other kinds is shorter.
  if (existential.kind != 0x303) return NULL;
  memcpy(&existential, type, offsetof(__typeof__(existential), first));
  if (existential.count != 1) return NULL;
  // A superclass precedes the protocol.
  size_t skipped = existential.flags >> 30 & 1;
  const void *protocol;
  memcpy(&protocol, (const char *)type + offsetof(__typeof__(existential), first) + 8 * skipped,
         sizeof protocol);
  return protocol;
}

/// The runtime's information about a conformance, with more room than is read here.
typedef struct FWDConformanceContext {
  /// The type of the global actor; NULL without one.
  const void *_Nullable actor;
  const void *_Nullable more[15];
} FWDConformanceContext;
_Static_assert(sizeof(FWDConformanceContext) == 16 * sizeof(void *), "there is room for 16 words");

// The search of `as?`, since Swift 6.2. It writes `swift_ConformanceExecutionContextSize` bytes.
extern const void *_Nullable swift_conformsToProtocolWithExecutionContext(
    const void *type, const void *protocol, FWDConformanceContext *context);
extern const size_t swift_ConformanceExecutionContextSize;

/// Finds the conformance of a class to a protocol, like a dynamic cast. Returns its witness table,
/// or NULL if it does not exist. Writes the type of its actor, or NULL. The caller got class and protocol
/// from Swift.
static inline const void *_Nullable fwd_conformance_of(const void *type, const void *protocol,
                                                       const void *_Nullable *_Nonnull actor) {
  FWDConformanceContext context = {0};
  *actor = NULL;
  if (swift_ConformanceExecutionContextSize > sizeof context) return NULL;
  const void *table = swift_conformsToProtocolWithExecutionContext(type, protocol, &context);
  *actor = context.actor;
  return table;
}

// MARK: Tasks
//
// For: the step of an awaited delivery. A delivery inside of `withValue` took 4,600 ns.
// Who else: `TaskLocal.withValue` and its getter call these.

// A value that is pushed belongs to the task until the same task pops it. Pops are in reverse order, after
// all that the task has allocated since the push is freed.
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

// MARK: Executors
//
// For: asking on which actor a call runs, without ending the program.
// Who else: `assumeIsolated` and `checkIsolated` call this.

/// A serial executor, as the Swift runtime passes one: an `UnownedSerialExecutor`.
typedef struct {
  uintptr_t identity;
  uintptr_t implementation;
} FWDExecutor;

// Thread-safe. With flags of 0 it may return false; with others it may trap instead.
extern __attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(FWDExecutor executor,
                                                                             uint64_t flags);

/// Returns whether the current thread runs on an executor, also for a thread without a task. The
/// caller retains the executor's owner. The answer is valid until the caller suspends.
static inline bool fwd_is_current_executor(FWDExecutor executor) {
  return swift_task_isCurrentExecutorWithFlags(executor, 0);
}

// MARK: Queues
//
// For: work on a queue without a block, which takes two allocations in Swift's `Dispatch`, one of them for
// a copy of the closure that it runs.
// Who else: any C program that links libdispatch; its public interface has had these from the beginning.

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

#pragma clang assume_nonnull end
