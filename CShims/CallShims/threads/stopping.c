// SPDX-License-Identifier: Apache-2.0
/// Whether faces may call targets at all.
#include <pthread.h>

#include "CForwardingShims.h"
#include "fwd_fork.h"
#include "fwd_hold_internal.h"

/// Changed under the threads lock. Each thread has a copy in its record, which is faster to read.
static int is_stopped;

uint32_t fwd_new_thread_direct_depth(void) { return is_stopped ? 0 : FWD_FORWARDING_SHALLOW; }

int fwd_direct_is_stopped(void) { return __atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE); }

void fwd_direct_stop(void) {
  if (fwd_direct_is_stopped()) return;
  pthread_mutex_lock(&fwd_threads_lock);
  __atomic_store_n(&is_stopped, 1, __ATOMIC_RELEASE);
  for (FWDThread *thread = fwd_threads; thread; thread = thread->next)
    __atomic_store_n(&thread->direct_depth, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&fwd_threads_lock);
}
