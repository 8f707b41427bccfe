// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

// The state of one thread: its holds, its forwarding steps, and the memory that it reuses.

// No data of this folder has hidden visibility. If several images contain this package, the dynamic
// linker uses the Swift code and functions of one of them for all. With hidden data, code that is
// inlined into the other images would read their own copies, which are never changed.

// The stack frames of a step that fails; a sanitizer makes them several times as large.
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FWD_FORWARDING_FRAMES 32768
#endif
#endif
#ifndef FWD_FORWARDING_FRAMES
#define FWD_FORWARDING_FRAMES 16384
#endif

/// A number that no other running thread has; a later one may.
static inline uintptr_t fwd_running_thread(void) { return (uintptr_t)__builtin_thread_pointer(); }

enum {
  /// The most objects that a thread may hold at a time. Beyond that, callers take a slower path.
#if FWD_IS_CHECKED
  FWD_HOLDS_MAX = 4,
#else
  FWD_HOLDS_MAX = 64,
#endif
  /// The most spare objects that a thread retains.
  FWD_SPARES = 8,
  /// The most nested forwarding steps of one thread.
  FWD_FORWARDING_DEPTH = 200,
  /// The depth from which a step checks the remaining stack, and the number of bytes that it
  /// requires.
  FWD_FORWARDING_SHALLOW = 4,
  FWD_FORWARDING_STACK = FWD_FORWARDING_FRAMES,
};

/// The header of an object that threads hold while others replace it. It is the first member.
typedef struct FWDRetirable {
  void (*_Nullable dispose)(struct FWDRetirable *thing);
  /// The number of remaining holds, after the object was retired.
  size_t holds;
  struct FWDRetirable *_Nullable next;
} FWDRetirable;

/// One object that a thread holds.
typedef struct FWDHold {
  const void *_Nullable thing;
  /// Equal to `thing` after it was retired: releasing it takes the lock.
  FWDRetirable *_Nullable wanted;
} FWDHold;

typedef enum __attribute__((enum_extensibility(closed))) FWDForwarding : uint8_t {
  FWDForwardingEntered = 0,
  /// The object is already forwarding the same message.
  FWDForwardingCycle,
  FWDForwardingTooDeep,
  /// The remaining stack is too small for another step.
  FWDForwardingWithoutStack,
} FWDForwarding;

/// An object that is forwarding a message.
typedef struct FWDStep {
  const void *object;
  uint64_t message;
} FWDStep;

/// The record of a thread, freed when the thread ends.
typedef struct FWDThread {
  /// The first free hold. Only the thread itself reads it.
  FWDHold *top;
  /// The end of the holds that other threads search, but for the last one.
  FWDHold *room;
  /// The number of `holds` that other threads must search. It only grows.
  uint32_t high;
  /// Whether the thread executes a barrier when it takes or releases a hold.
  int makes_barriers;
  /// The last one is for holds during which no other code runs: see `fwd_list_keep`.
  FWDHold holds[FWD_HOLDS_MAX + 1];
  /// Objects that the thread reuses and owns, and the key of each.
  void *_Nullable spares[FWD_SPARES];
  const void *_Nullable spare_keys[FWD_SPARES];
  /// Whether the thread retains spare objects. It does not where a tool watches each allocation.
  uint32_t keeps_spares;
  /// The last message number: the thread's own number in the high bits, and a count.
  uint64_t last_message;
  /// The neighbors in the list of all threads, under its lock.
  struct FWDThread *_Nullable next;
  struct FWDThread *_Nullable previous;
  /// Why the last question to an object failed; `FWDForwardingEntered` if it did not.
  FWDForwarding unasked;
  /// The last object that did not implement an optional requirement, and the selector: both are
  /// compared, never dereferenced.
  const void *_Nullable left_out;
  uint64_t left_out_selector;
  /// The objects that are forwarding, and their messages, outermost first.
  uint32_t depth;
  FWDStep steps[FWD_FORWARDING_DEPTH];
} FWDThread;

_Static_assert(_Alignof(max_align_t) >= 16, "a block of `malloc` is aligned to 16");

// Eight bytes, which always fit into the static TLS block, whose variables need no call to reach. C
// libraries other than glibc refuse to load an image that uses that block later.
#if defined(__linux__) && defined(__GLIBC__)
extern _Thread_local FWDThread *_Nullable fwd_thread_or_null
    __attribute__((tls_model("initial-exec")));
#else
extern _Thread_local FWDThread *_Nullable fwd_thread_or_null;
#endif

_Static_assert(sizeof fwd_thread_or_null == 8, "there is always room for it");

/// Registers this thread, and returns its record, which lives until the thread ends. NULL without
/// memory. Only for a thread without a record: other code calls `fwd_thread`.
FWDThread *_Nullable fwd_thread_enter(void);

/// Returns the number of registered threads, for tests. Takes the threads lock; the number may be
/// outdated on return.
size_t fwd_thread_count(void);

/// Sets the function that releases spares when their thread ends. Called once, before any spare is
/// stored. The function runs on the ending thread, under no lock, and may send messages.
void fwd_set_spare_release(void (*release)(void *spare));

/// Returns the record of this thread, and creates it if necessary; NULL without memory. No other
/// thread may use it.
static inline FWDThread *_Nullable fwd_thread(void) {
  FWDThread *thread = fwd_thread_or_null;
  return __builtin_expect(thread != NULL, 1) ? thread : fwd_thread_enter();
}

// MARK: Spares

/// Returns a number that, modulo `FWD_SPARES`, is the index at which the search for a key begins.
/// For the two functions below.
static inline uint32_t fwd_spare_start(const void *key) {
  return (uint32_t)((uintptr_t)key * 0x9E3779B97F4A7C15u >> 56);
}

/// Takes a spare object with the key `key`; NULL if the thread has no such object. The caller then
/// owns it. `thread` is the current one, and `key` is compared, never dereferenced.
static inline void *_Nullable fwd_spare_take(FWDThread *thread, const void *key) {
  uint32_t first = fwd_spare_start(key);
  for (uint32_t i = 0; i < FWD_SPARES; i++) {
    uint32_t at = (first + i) % FWD_SPARES;
    if (thread->spare_keys[at] != key) continue;
    void *spare = thread->spares[at];
    thread->spares[at] = NULL;
    thread->spare_keys[at] = NULL;
    return spare;
  }
  return NULL;
}

/// Stores a spare object, which the thread then owns, and returns the object that it replaces, or
/// NULL. Returns `spare` itself if the thread stores no spares. The caller releases the returned
/// object.
static inline void *_Nullable fwd_spare_keep(FWDThread *thread, const void *key, void *spare) {
  if (!thread->keeps_spares) return spare;
  uint32_t first = fwd_spare_start(key), at = first % FWD_SPARES;
  for (uint32_t i = 0; i < FWD_SPARES; i++) {
    at = (first + i) % FWD_SPARES;
    if (!thread->spares[at]) break;
  }
  void *old = thread->spares[at];
  thread->spares[at] = spare;
  thread->spare_keys[at] = key;
  return old;
}

/// Returns a number that no other message has. Without memory for a thread all messages have 1; no
/// step can be entered then.
static inline uint64_t fwd_next_message(void) {
  FWDThread *thread = fwd_thread();
  return thread ? ++thread->last_message : 1;
}

/// The number of the current thread, which no other thread has, running or ended; 0 without memory.
static inline uint64_t fwd_thread_number(void) {
  FWDThread *thread = fwd_thread();
  return thread ? thread->last_message >> 40 : 0;
}

#pragma clang assume_nonnull end
