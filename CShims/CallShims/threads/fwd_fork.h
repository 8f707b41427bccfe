// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

// The locks of this folder; each is defined in the file that takes it. A fork waits until all of
// them are free, so that a child never inherits a lock that is held by a thread that it does not
// have. They are leaf locks: while one is held, no other is taken, no foreign code runs, and
// nothing is disposed of.
extern pthread_mutex_t fwd_callbacks_lock;
extern pthread_mutex_t fwd_threads_lock;
extern pthread_mutex_t fwd_methods_lock;
extern pthread_mutex_t fwd_selectors_lock;

/// Installs the fork handlers; called once.
void fwd_watch_forks(void);

/// Removes the threads that a child process does not have. The caller holds the threads lock.
void fwd_forget_other_threads(void);
