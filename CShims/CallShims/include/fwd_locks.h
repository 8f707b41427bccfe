// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The locks of Swift objects: a fixed pool, from which an object's address selects one.
//
// While such a lock is held, no other one is taken, no user code runs, and no thread waits except
// for a condition, which releases the lock meanwhile. A checked build stops when a second one is
// taken. A lock of the C core may be taken under such a lock, never the other way round.

/// Returns the lock of an object, by the object's address: two objects may share a lock. It lives
/// as long as the process.
pthread_mutex_t *fwd_lock_of(const void *object);

/// Locks and unlocks a mutex that `fwd_lock_of` returned, on one thread. It blocks without a limit:
/// a thread that holds such a lock must not take another one, which may be the same.
void fwd_lock(pthread_mutex_t *lock);
void fwd_unlock(pthread_mutex_t *lock);

#pragma clang assume_nonnull end
