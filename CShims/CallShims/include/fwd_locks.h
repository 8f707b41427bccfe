#pragma once

#include <pthread.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The locks of Swift objects: one of a few for each object, by its address. So a fork can wait until
// all of them are free, and a child never finds one taken by a thread that it does not have.
//
// Under one of them no other of them is taken, no code of users runs, and nothing waits except for a
// condition, which lets go of the lock meanwhile. A checked build stops where a second one is
// taken. A lock of the C core may be taken under one of them, never the other way round.

/// Returns the lock of an object, which is found by the address alone: two objects may have the same
/// one. It lives as long as the process, and passes a fork.
pthread_mutex_t *fwd_lock_of(const void *object);

/// Takes a lock that `fwd_lock_of` returned, and gives it back on the same thread. Waits without an
/// end: a thread that has such a lock must not take one, as it may be the same.
void fwd_lock(pthread_mutex_t *lock);
void fwd_unlock(pthread_mutex_t *lock);

/// Returns a number that is another one in each child that this process forks: who remembers it knows whether its files
/// and threads are its own. Takes no lock.
uint64_t fwd_fork_count(void);

#pragma clang assume_nonnull end
