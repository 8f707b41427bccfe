// SPDX-License-Identifier: Apache-2.0
/// The locks of Swift objects, and the fork handlers for all locks of this package.
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "CForwardingShims.h"
#include "fwd_fork.h"
#include "fwd_hold_internal.h"

enum { LOCKS = 64, LOCK_BITS = 6 };

_Static_assert(LOCKS == 1 << LOCK_BITS, "the high bits of a product choose one of all locks");

/// A lock that fills a cache line.
typedef struct Lock {
  _Alignas(64) pthread_mutex_t mutex;
} Lock;

_Static_assert(sizeof(Lock) == 64, "a lock is a line of the processor's cache");

static Lock locks[LOCKS] = {[0 ... LOCKS - 1] = {PTHREAD_MUTEX_INITIALIZER}};

pthread_mutex_t *fwd_lock_of(const void *object) {
  fwd_set_up_threads();
  return &locks[((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15u >> (64 - LOCK_BITS)].mutex;
}

#if FWD_IS_CHECKED
static _Thread_local int is_locking;
#endif

void fwd_lock(pthread_mutex_t *lock) {
#if FWD_IS_CHECKED
  if (is_locking) abort();
  is_locking = 1;
#endif
  pthread_mutex_lock(lock);
}

void fwd_unlock(pthread_mutex_t *lock) {
#if FWD_IS_CHECKED
  is_locking = 0;
#endif
  pthread_mutex_unlock(lock);
}

// MARK: Forks

// A lock of the C core may be taken under the lock of an object, never the other way round.
static void lock_all(void) {
  for (int i = 0; i < LOCKS; i++) pthread_mutex_lock(&locks[i].mutex);
  pthread_mutex_lock(&fwd_callbacks_lock);
  pthread_mutex_lock(&fwd_threads_lock);
  pthread_mutex_lock(&fwd_methods_lock);
  pthread_mutex_lock(&fwd_selectors_lock);
}

static void unlock_all(void) {
  pthread_mutex_unlock(&fwd_selectors_lock);
  pthread_mutex_unlock(&fwd_methods_lock);
  pthread_mutex_unlock(&fwd_threads_lock);
  pthread_mutex_unlock(&fwd_callbacks_lock);
  for (int i = LOCKS - 1; i >= 0; i--) pthread_mutex_unlock(&locks[i].mutex);
}

static _Atomic uint64_t fork_count;

uint64_t fwd_fork_count(void) {
  fwd_set_up_threads();
  return atomic_load_explicit(&fork_count, memory_order_relaxed);
}

static void enter_child(void) {
  atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
  fwd_forget_other_threads();
  unlock_all();
}

void fwd_watch_forks(void) { pthread_atfork(lock_all, unlock_all, enter_child); }
