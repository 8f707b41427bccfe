// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_call.h"
#include "fwd_hold.h"

#pragma clang assume_nonnull begin

// The cache of methods that sends have found: one table for all classes, which is read without a
// lock.
//
// The table is correct as of one moment: when a class changes for a selector, the table is replaced
// by one without the entries of that selector. An entry never changes.

/// The method of one class for one selector.
typedef struct FWDMethod {
  /// The class and the selector as words. `type` is 0 in a free entry, and is written last.
  uintptr_t type;
  uintptr_t selector;
  /// The identity of the method's plan, which must equal that of the call's plan.
  const void *_Nullable plan;
  /// The C function; NULL for a Swift closure.
  const void *_Nullable function;
  /// The Swift object of the method, retained by the table; NULL if the object must be asked.
  const void *_Nullable implementation;
  /// The method table of the class, which lives as long as the process.
  const void *_Nullable table;
  /// Whether calls need no further work, as `FWDPlanFacts.is_light` says.
  uint8_t is_light;
  uint8_t returns_retained;
  uint8_t reserved[14];
} FWDMethod;

/// Entries are as large as a cache line, and aligned to one.
typedef struct FWDMethodCache {
  FWDRetirable retirable;
  size_t mask;
  size_t count;
  uint64_t reserved[3];
  FWDMethod methods[];
} FWDMethodCache;

_Static_assert(sizeof(FWDMethod) == 64, "an entry is as large as a line of the cache");
_Static_assert(offsetof(FWDMethodCache, methods) == 64, "entries are aligned");
_Static_assert(offsetof(FWDMethodCache, retirable) == 0, "what is retired is found by its beginning");

/// The cell of the current table.
extern const void *_Nullable fwd_method_cache;

/// Hashes the words of a class and a selector: the search in the table begins at that entry. With a
/// class of 0 it is the hash of the selector alone.
static inline size_t fwd_method_hash(uintptr_t type, uintptr_t selector) {
  uint64_t mixed = (type ^ (selector << 7)) * 0x9E3779B97F4A7C15u;
  return (size_t)(mixed >> 32);
}

/// Returns the entry for a class and a selector, or NULL if no entry exists yet. The caller holds
/// the table, or the methods lock; the entry is valid while it does. Entries may be added
/// meanwhile.
static inline const FWDMethod *_Nullable fwd_method_find(const FWDMethodCache *cache,
                                                         uintptr_t type, uintptr_t selector) {
  size_t mask = cache->mask;
  for (size_t i = fwd_method_hash(type, selector) & mask;; i = (i + 1) & mask) {
    const FWDMethod *method = &cache->methods[i];
    uintptr_t found = __atomic_load_n(&method->type, __ATOMIC_ACQUIRE);
    if (found == type && method->selector == selector) return method;
    if (found == 0) return NULL;
  }
}

/// Finds the entry in the current table, and holds that table. Returns NULL, without a hold, if
/// there is no entry or `fwd_hold` fails: then the method is unknown.
///
/// Each success is followed by one `fwd_let_go` of the same function. The entry is valid until
/// then.
__attribute__((always_inline)) static inline const FWDMethod *_Nullable fwd_method_hold(
    FWDThread *_Nullable thread, uintptr_t type, uintptr_t selector) {
  const FWDMethodCache *cache = (const FWDMethodCache *)fwd_hold(thread, &fwd_method_cache);
  if (__builtin_expect(!cache, 0)) return NULL;
  const FWDMethod *method = fwd_method_find(cache, type, selector);
  if (__builtin_expect(!method, 0)) fwd_let_go((FWDThread *)thread);
  return method;
}

/// A held method, or NULL, with the thread that holds it in slot `hold`. It is returned by value,
/// because an out parameter would have to be in memory.
typedef struct FWDHeldMethod {
  const FWDMethod *_Nullable method;
  FWDThread *_Nullable thread;
  FWDHold *_Nullable hold;
} FWDHeldMethod;

/// Finds the method of class `type` for a selector, like `fwd_method_hold`, on this thread.
///
/// Each success is followed by one `fwd_let_go_from(thread, hold)` of the same function, after
/// the method has run any code.
__attribute__((always_inline)) static inline FWDHeldMethod fwd_method_held(uintptr_t type,
                                                                           uint64_t selector) {
  FWDThread *thread = fwd_thread();
  FWDHold *hold = thread ? thread->top : NULL;
  return (FWDHeldMethod){fwd_method_hold(thread, type, selector), thread, hold};
}

/// Returns whether a method may be called with the frames of a plan, and its result needs no
/// further work. The caller holds the method, or the methods lock.
static inline int fwd_method_is_ready(const FWDMethod *method, const FWDPlanFacts *facts) {
  return method->plan == facts->identity && method->is_light;
}

/// The method that an invocation has found for its receiver's class, so that it need not be found
/// and held for each call; none while `implementation` is NULL. It lies in front of the state of the
/// call.
typedef struct FWDRecalled {
  /// The class and the selector.
  uintptr_t type;
  uintptr_t selector;
  /// The counter of changes that may affect the selector, and its value when the method was found.
  const uint64_t *_Nullable changes;
  uint64_t seen;
  /// Retained. NULL after the first send, because most invocations are sent once.
  const void *_Nullable implementation;
  uintptr_t reserved;
} FWDRecalled;

_Static_assert(sizeof(FWDRecalled) % 16 == 0, "the state behind it is aligned to 16 bytes");

/// Returns the counter of changes that may affect a selector. It includes every change whose
/// `fwd_methods_forget` has returned before the read, on any thread.
const uint64_t *fwd_method_changes(uintptr_t selector);

/// Returns whether the recalled method is still that of a class for a selector. Takes no lock. A
/// concurrent change on another thread may be seen or not.
static inline int fwd_recalled_is_right(const FWDRecalled *recalled, uintptr_t type,
                                        uint64_t selector) {
  return recalled->implementation && recalled->type == type && recalled->selector == selector &&
         __atomic_load_n(recalled->changes, __ATOMIC_ACQUIRE) == recalled->seen;
}

/// Returns the number of changes that may affect a selector. It is read before a method is looked
/// up, and passed to `fwd_method_remember` with the method. Takes no lock.
uint64_t fwd_method_epoch(uintptr_t selector);

/// Adds an entry, and retains its implementation. It does nothing if a class has changed for the
/// selector since `epoch`, the entry exists, or there is no memory for a larger table: the next
/// send then looks the method up again.
///
/// The caller keeps the implementation alive until this returns. It must hold no lock: a replaced
/// table is retired here, which may run any code.
void fwd_method_remember(FWDMethod method, uint64_t epoch);

/// Removes the entries of a selector. Called after a class has changed, on any thread. The caller
/// must hold no lock. Without memory all entries are removed, and found again later.
void fwd_methods_forget(uintptr_t selector);

#pragma clang assume_nonnull end
