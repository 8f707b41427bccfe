// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include "fwd_hold.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FWD_WITH_THREAD_SANITIZER 1
#endif
#if __has_feature(address_sanitizer)
#define FWD_WITH_ADDRESS_SANITIZER 1
#endif
#endif

#ifndef FWD_WITH_THREAD_SANITIZER
#define FWD_WITH_THREAD_SANITIZER 0
#endif
#ifndef FWD_WITH_ADDRESS_SANITIZER
#define FWD_WITH_ADDRESS_SANITIZER 0
#endif

/// The lock of all threads and their holds. A leaf: while it is held, no other lock is taken, no foreign
/// code runs, and nothing is disposed of.
extern pthread_mutex_t fwd_threads_lock;

/// All threads.
extern FWDThread *fwd_threads;

/// Sets up the state that all threads share, once.
void fwd_set_up_threads(void);

/// Determines how barriers are made.
void fwd_set_up_barriers(void);

/// Returns whether a new thread must make barriers. The caller holds the threads lock until the
/// thread is in the list.
int fwd_new_thread_makes_barriers(void);

/// Releases the holds of a thread, and returns the objects whose last holds these were. The caller holds
/// the threads lock.
FWDRetirable *fwd_end_holds(FWDThread *thread);

/// Disposes of a list of objects. The caller holds no lock.
void fwd_dispose_all(FWDRetirable *dead);
