#pragma once

#include <pthread.h>

// The locks of this folder, each with the file that takes it. A fork waits until they are free, so
// that a child never finds one taken by a thread that it does not have. They are leaves: under one
// of them no other is taken, no foreign code runs, and nothing is disposed of.
extern pthread_mutex_t fwd_callbacks_lock;
extern pthread_mutex_t fwd_threads_lock;
extern pthread_mutex_t fwd_methods_lock;
extern pthread_mutex_t fwd_selectors_lock;

/// Makes forks safe; called once.
void fwd_watch_forks(void);

/// Forgets the threads that a child process does not have. The lock of threads is held.
void fwd_forget_other_threads(void);
