// SPDX-License-Identifier: Apache-2.0
/// The locks of Swift objects.
#include <stdint.h>
#include <stdlib.h>

#include "CForwardingShims.h"

enum { LOCKS = 64, LOCK_BITS = 6 };

_Static_assert(LOCKS == 1 << LOCK_BITS, "the high bits of a product choose one of all locks");

/// A lock that fills a cache line.
typedef struct Lock {
  _Alignas(64) pthread_mutex_t mutex;
} Lock;

_Static_assert(sizeof(Lock) == 64, "a lock is a line of the processor's cache");

static Lock locks[LOCKS] = {[0 ... LOCKS - 1] = {PTHREAD_MUTEX_INITIALIZER}};

pthread_mutex_t *fwd_lock_of(const void *object) {
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
