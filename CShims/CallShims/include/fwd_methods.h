#pragma once

#include "fwd_call.h"
#include "fwd_hold.h"

#pragma clang assume_nonnull begin

// The methods that sends have found, for all classes in one table that is read without a lock.
//
// The table is right as of one moment: a change of a class for a selector takes all entries of that
// selector out, by putting another table in its place. An entry never changes once it is there.

/// How the instances of one class answer one selector.
typedef struct FWDMethod {
  /// The class and the selector, both as words. `type` is 0 in a free entry, and written last.
  uintptr_t type;
  uintptr_t selector;
  /// The identity of the method's plan, which is compared with that of the call's.
  const void *_Nullable plan;
  /// The C function, or NULL for a Swift body.
  const void *_Nullable function;
  /// The Swift object that is the method, retained by the table; NULL if the object must be asked.
  const void *_Nullable implementation;
  /// The class's table of methods, which lives as long as the process.
  const void *_Nullable table;
  /// Whether the result of the method needs no care: no object, and no C string.
  uint8_t is_light;
  uint8_t returns_retained;
  uint8_t reserved[14];
} FWDMethod;

/// Aligned to an entry, which is as large as a line of the processor's cache.
typedef struct FWDMethodCache {
  FWDRetirable retirable;
  size_t mask;
  size_t count;
  /// Tells quickly that there is no entry of a selector: bits by hash of those that are there.
  uint64_t selectors[3];
  FWDMethod methods[];
} FWDMethodCache;

_Static_assert(sizeof(FWDMethod) == 64, "an entry is as large as a line of the cache");
_Static_assert(offsetof(FWDMethodCache, methods) == 64, "entries are aligned");
_Static_assert(offsetof(FWDMethodCache, retirable) == 0, "what is retired is found by its beginning");

/// The cell of the current table.
extern const void *_Nullable fwd_method_cache;

/// Mixes the words of a class and a selector into the number that decides where a search begins. A
/// class of 0 gives the hash of a selector alone.
static inline size_t fwd_method_hash(uintptr_t type, uintptr_t selector) {
  uint64_t mixed = (type ^ (selector << 7)) * 0x9E3779B97F4A7C15u;
  return (size_t)(mixed >> 32);
}

/// Returns the entry for a class and a selector, or NULL if there is none yet. The caller holds the
/// table, or has the lock of methods; the entry is good for as long. Entries may be added meanwhile.
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

/// Finds the entry in the current table, and holds that table. Returns NULL, and holds nothing, if
/// there is no entry or `fwd_hold` refuses: then nothing is known of the method.
///
/// Every success is followed by one `fwd_let_go` of the same function. The entry is good until then.
__attribute__((always_inline)) static inline const FWDMethod *_Nullable fwd_method_hold(
    FWDThread *_Nullable thread, uintptr_t type, uintptr_t selector) {
  const FWDMethodCache *cache = (const FWDMethodCache *)fwd_hold(thread, &fwd_method_cache);
  if (__builtin_expect(!cache, 0)) return NULL;
  const FWDMethod *method = fwd_method_find(cache, type, selector);
  if (__builtin_expect(!method, 0)) fwd_let_go((FWDThread *)thread);
  return method;
}

/// A method that is held, or NULL; and the thread that holds it, in slot `hold`. A value, because an
/// out parameter would have to be in memory.
typedef struct FWDHeldMethod {
  const FWDMethod *_Nullable method;
  FWDThread *_Nullable thread;
  FWDHold *_Nullable hold;
} FWDHeldMethod;

/// Finds what objects of class `type` do about a selector, as `fwd_method_hold` does, on this thread.
///
/// Every success is followed by one `fwd_let_go_from(thread, hold, 0)` of the same function, after
/// whatever code the method runs.
__attribute__((always_inline)) static inline FWDHeldMethod fwd_method_held(uintptr_t type,
                                                                           uint64_t selector) {
  FWDThread *thread = fwd_thread();
  FWDHold *hold = thread ? thread->top : NULL;
  return (FWDHeldMethod){fwd_method_hold(thread, type, selector), thread, hold};
}

/// Says whether a method answers calls of a plan, and needs no care. The caller holds the method, or has
/// the lock of methods.
static inline int fwd_method_is_ready(const FWDMethod *method, const FWDPlanFacts *facts) {
  return method->plan == facts->identity && method->is_light;
}

/// The method that an invocation has found for its receiver's class, so that it need not be found, and
/// held, each time. It stands in front of the state of the call; zero for an invocation that has found none.
typedef struct FWDRecalled {
  /// The class and the selector.
  uintptr_t type;
  uintptr_t selector;
  /// Where changes that may concern the selector are counted, and how many there were.
  const uint64_t *_Nullable changes;
  uint64_t seen;
  /// Retained. NULL after the first time, as most invocations are sent once.
  const void *_Nullable implementation;
  uintptr_t reserved;
} FWDRecalled;

_Static_assert(sizeof(FWDRecalled) % 16 == 0, "the state behind it is aligned to 16 bytes");

/// Returns where changes are counted that may concern a selector. What `fwd_methods_forget` returned
/// before, on any thread, is counted in what is read there.
const uint64_t *fwd_method_changes(uintptr_t selector);

/// Says whether the method of a class for a selector is the one that was found. Takes no lock; a change
/// that another thread is making may be seen or not.
static inline int fwd_recalled_is_right(const FWDRecalled *recalled, uintptr_t type,
                                        uint64_t selector) {
  return recalled->implementation && recalled->type == type && recalled->selector == selector &&
         __atomic_load_n(recalled->changes, __ATOMIC_ACQUIRE) == recalled->seen;
}

/// Says whether a table that is held is still the current one. A class that changes for a selector of
/// the table puts another one in its place, and so does a table that grows.
static inline int fwd_method_is_current(const FWDMethodCache *cache) {
  return __atomic_load_n(&fwd_method_cache, __ATOMIC_ACQUIRE) == (const void *)cache;
}

/// Returns how many changes there were that may concern a selector. It is read before a method is
/// looked up, and passed to `fwd_method_remember` when the method is kept. Takes no lock.
uint64_t fwd_method_epoch(uintptr_t selector);

/// Keeps an entry, and retains its implementation, unless a class has changed for its selector since
/// `epoch`, there is an entry already, or no memory for a larger table: the next send asks again.
///
/// The caller keeps the implementation alive until this returns. No lock may be held: a table that is
/// replaced is retired here, which may run any code.
void fwd_method_remember(FWDMethod method, uint64_t epoch);

/// Forgets the entries of a selector: a class has changed. Called after the change, from any thread.
/// No lock may be held. Without memory all entries are forgotten, and found again.
void fwd_methods_forget(uintptr_t selector);

#pragma clang assume_nonnull end
