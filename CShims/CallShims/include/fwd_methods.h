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
  if (!cache) return NULL;
  const FWDMethod *method = fwd_method_find(cache, type, selector);
  if (__builtin_expect(!method, 0)) fwd_let_go((FWDThread *)thread);
  return method;
}

/// What is known of a message.
typedef enum __attribute__((enum_extensibility(closed))) FWDSend : uint8_t {
  /// A C function with a light result, and it was called.
  FWDSendDone = 0,
  /// Another method that fits; it is held.
  FWDSendHeld,
  /// The object must be asked, and its class's table is given.
  FWDSendAsk,
  /// Nothing is known, or the types differ.
  FWDSendUnknown,
} FWDSend;

/// What `fwd_send` did, or found. A value, because an out parameter would have to be in memory.
typedef struct FWDSent {
  FWDSend what;
  /// If held: the method, and the thread that holds it, from slot `index` on.
  const FWDMethod *_Nullable method;
  FWDThread *_Nullable thread;
  uint32_t index;
  /// If the object must be asked: its class's table.
  const void *_Nullable table;
} FWDSent;

/// Sends the message in the frame behind `state` to its receiver, of class `type`, if that takes
/// nothing but a call.
///
/// The caller has written receiver and selector into the frame, keeps the receiver alive, and has let
/// an older result go. After `FWDSendHeld` it calls the method itself, and then
/// `fwd_let_go_from(thread, index, 0)`; after all else nothing is held. The frame's result is that of
/// the method only after `FWDSendDone`.
__attribute__((always_inline)) static inline FWDSent fwd_send(const FWDPlanFacts *facts,
                                                              FWDInvocationState *state,
                                                              uintptr_t type,
                                                              uint64_t selector) {
  FWDThread *thread = fwd_thread();
  uint32_t index = thread ? thread->count : 0;
  const FWDMethod *method = fwd_method_hold(thread, type, selector);
  if (__builtin_expect(!method, 0)) return (FWDSent){.what = FWDSendUnknown};
  if (__builtin_expect(method->plan != facts->identity, 0)) {
    FWDSent sent = {.what = method->implementation ? FWDSendUnknown : FWDSendAsk,
                    .table = method->table};
    fwd_let_go_from((FWDThread *)thread, index, 0);
    return sent;
  }
  if (!method->function || !method->is_light)
    return (FWDSent){.what = FWDSendHeld, .method = method, .thread = thread, .index = index};
  fwd_call_in_use(facts, state, method->function);
  state->has_result = facts->returns_value;
  fwd_let_go_from((FWDThread *)thread, index, 0);
  return (FWDSent){.what = FWDSendDone};
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
