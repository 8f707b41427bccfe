#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#pragma clang assume_nonnull begin

// How memory that other threads replace is read without a lock and without counting references.
//
// What is shared is published at a *place*: one word. A reader *holds* what it finds there: it
// writes the address into a list of its thread, and looks at the place again; if it is still there,
// whoever replaces it will see the list. A writer replaces the word and *retires* the old thing,
// which is disposed of at once if no thread holds it, else when the last one lets go.
//
// The reader's write must be visible before its second look. A barrier there would cost as much as
// the lock; so writers make every running thread pass one (`membarrier`) where the system can.

enum {
  /// How many things a thread may hold at a time. Beyond, the caller has to take a slower way.
  FWD_HOLDS_MAX = 64,
  /// How many spare objects a thread keeps.
  FWD_SPARES = 8,
  /// How many spare blocks of memory a thread keeps, and how large they are.
  FWD_SPARE_BLOCKS = 16,
  FWD_BLOCK_SIZE = 256,
  /// How many forwarding steps may be inside of each other on one thread.
  FWD_FORWARDING_DEPTH = 200,
};

/// Of what only this package's own code looks at: reached without a table of addresses.
#define FWD_HIDDEN __attribute__((visibility("hidden")))

/// An object that is forwarding a message.
typedef struct FWDStep {
  const void *object;
  uint64_t message;
} FWDStep;

/// What is known of one thread. Never freed: when the thread is gone, another one takes it over.
typedef struct FWDThread {
  const void *_Nullable held[FWD_HOLDS_MAX];
  /// Of `held`; only the thread itself looks at it.
  uint32_t count;
  uint32_t in_use;
  /// Objects that the thread uses again, owned, and what each is good for.
  void *_Nullable spares[FWD_SPARES];
  const void *_Nullable spare_keys[FWD_SPARES];
  /// Blocks of `FWD_BLOCK_SIZE` bytes that the thread uses again.
  void *_Nullable blocks[FWD_SPARE_BLOCKS];
  uint32_t block_count;
  /// Numbers messages: the thread's own number in the high bits, then a count.
  uint64_t last_message;
  struct FWDThread *_Nullable next;
  /// Who is forwarding what, the first one first.
  uint32_t depth;
  FWDStep steps[FWD_FORWARDING_DEPTH];
} FWDThread;

// Eight bytes, so that there is always room for it in the block that needs no call to reach.
#if defined(__linux__)
extern _Thread_local FWDThread *_Nullable fwd_thread_or_null
    __attribute__((tls_model("initial-exec")));
#else
extern _Thread_local FWDThread *_Nullable fwd_thread_or_null;
#endif

/// Makes this thread known. NULL where there is no memory for it.
FWDThread *_Nullable fwd_thread_enter(void);

/// How to release a spare when its thread ends. Set once, before any is kept.
void fwd_set_spare_release(void (*release)(void *spare));

static inline FWDThread *_Nullable fwd_thread(void) {
  FWDThread *thread = fwd_thread_or_null;
  return __builtin_expect(thread != NULL, 1) ? thread : fwd_thread_enter();
}

/// Whether readers must make their own barrier.
extern int fwd_readers_need_barriers FWD_HIDDEN;
/// Whether letting go takes more than a store: readers make barriers, or something is retired.
extern int fwd_letting_go_is_slow FWD_HIDDEN;

static inline void fwd_reader_barrier(void) {
  if (__builtin_expect(__atomic_load_n(&fwd_readers_need_barriers, __ATOMIC_RELAXED), 0))
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  else
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/// Holds what is published at `place` in a slot of the thread, which is not counted here.
__attribute__((always_inline)) static inline const void *_Nullable fwd_hold_in(
    FWDThread *thread, uint32_t index, const void *_Nullable const *_Nonnull place) {
  const void **slot = (const void **)&thread->held[index];
  const void *seen = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  for (;;) {
    __atomic_store_n(slot, seen, __ATOMIC_RELEASE);
    fwd_reader_barrier();
    const void *now = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (__builtin_expect(now == seen, 1)) return seen;
    seen = now;
  }
}

/// Holds what is published at `place`; NULL if nothing is, or the thread holds too much already.
/// Every success is followed by one `fwd_let_go`, the last hold first.
static inline const void *_Nullable fwd_hold(FWDThread *_Nullable thread,
                                             const void *_Nullable const *_Nonnull place) {
  if (!thread || thread->count == FWD_HOLDS_MAX) return NULL;
  uint32_t index = thread->count;
  const void *held = fwd_hold_in((FWDThread *)thread, index, place);
  if (held) thread->count = index + 1;
  return held;
}

/// Disposes of what was retired and is no longer held by anybody.
void fwd_collect(void);

/// Makes the barrier, if one is needed, and collects, if something is retired.
void fwd_let_go_slowly(void);

/// Lets go of what was held from slot `index` on, which is one thing or two. Who kept the index
/// does not wait for the count to come back from memory.
__attribute__((always_inline)) static inline void fwd_let_go_from(FWDThread *thread,
                                                                  uint32_t index, int is_pair) {
  const void **slots = (const void **)&thread->held[index];
  if (is_pair) __atomic_store_n(slots + 1, NULL, __ATOMIC_RELEASE);
  __atomic_store_n(slots, NULL, __ATOMIC_RELEASE);
  thread->count = index;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(__atomic_load_n(&fwd_letting_go_is_slow, __ATOMIC_RELAXED), 0))
    fwd_let_go_slowly();
}

/// Lets go of what was held last.
static inline void fwd_let_go(FWDThread *thread) { fwd_let_go_from(thread, thread->count - 1, 0); }

/// Publishes `thing` at `place` and gives what was there.
static inline void *_Nullable fwd_publish(const void *_Nullable *_Nonnull place,
                                          const void *_Nullable thing) {
  return (void *)__atomic_exchange_n(place, thing, __ATOMIC_ACQ_REL);
}

/// What is at `place` now; only good to be compared, as it is not held.
static inline const void *_Nullable fwd_published(const void *_Nullable const *_Nonnull place) {
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/// Calls `dispose(thing)` as soon as no thread holds `thing`, which nobody can find any more. No
/// lock may be held: disposing may run any code.
void fwd_retire(void *thing, void (*dispose)(void *thing));

static inline uint32_t fwd_spare_place(const void *key) {
  return (uint32_t)((uintptr_t)key * 0x9E3779B97F4A7C15u >> 56);
}

/// A spare object that is good for `key`, now the caller's; NULL if the thread has none.
static inline void *_Nullable fwd_spare_take(FWDThread *thread, const void *key) {
  uint32_t first = fwd_spare_place(key);
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

/// Keeps a spare object, and gives back what has to make room for it.
static inline void *_Nullable fwd_spare_keep(FWDThread *thread, const void *key, void *spare) {
  uint32_t first = fwd_spare_place(key), at = first % FWD_SPARES;
  for (uint32_t i = 0; i < FWD_SPARES; i++) {
    at = (first + i) % FWD_SPARES;
    if (!thread->spares[at]) break;
  }
  void *old = thread->spares[at];
  thread->spares[at] = spare;
  thread->spare_keys[at] = key;
  return old;
}

/// A number for a message that no other message has.
static inline uint64_t fwd_next_message(void) {
  FWDThread *thread = fwd_thread();
  return thread ? ++thread->last_message : 1;
}

/// Memory of `size` bytes, aligned to 16: from `malloc`, or from what the thread has left over.
/// Stops the process where there is none, as Swift does for its own objects.
static inline void *fwd_block_take(size_t size) {
  if (size <= FWD_BLOCK_SIZE) {
    FWDThread *thread = fwd_thread();
    if (thread && thread->block_count > 0) return (void *)thread->blocks[--thread->block_count];
    size = FWD_BLOCK_SIZE;
  }
  void *block = malloc(size);
  if (!block) abort();
  return block;
}

/// Takes memory of `fwd_block_take(size)` back.
static inline void fwd_block_give(void *block, size_t size) {
  if (size <= FWD_BLOCK_SIZE) {
    FWDThread *thread = fwd_thread_or_null;
    if (thread && thread->block_count < FWD_SPARE_BLOCKS) {
      thread->blocks[thread->block_count++] = block;
      return;
    }
  }
  free(block);
}

#pragma clang assume_nonnull end
