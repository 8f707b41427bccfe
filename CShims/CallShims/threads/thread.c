// SPDX-License-Identifier: Apache-2.0
/// The threads that use this library, and their records.
#include <pthread.h>

#include "CForwardingShims.h"
#include "fwd_hold_internal.h"

// A sanitizer and a checked build detect uses after release, and races with it, only if each object
// is freed at once.
enum {
  KEEPS_SPARES = !FWD_IS_CHECKED && !FWD_WITH_ADDRESS_SANITIZER && !FWD_WITH_THREAD_SANITIZER
};

/// The number of holds of a new thread that other threads search. Few threads ever need more.
enum { FIRST_HIGH = 4 };

_Static_assert(FIRST_HIGH <= FWD_HOLDS_MAX, "the last hold is found full");

_Thread_local FWDThread *fwd_thread_or_null;
pthread_mutex_t fwd_threads_lock = PTHREAD_MUTEX_INITIALIZER;
FWDThread *fwd_threads;

static void (*release_spare)(void *);
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;
static uint64_t thread_numbers;

void fwd_set_spare_release(void (*release)(void *)) { release_spare = release; }

/// Removes a thread from the list. The caller holds the threads lock.
static void unlink_thread(FWDThread *thread) {
  if (thread->previous) thread->previous->next = thread->next;
  else fwd_threads = thread->next;
  if (thread->next) thread->next->previous = thread->previous;
}

static void leave(void *pointer) {
  FWDThread *thread = pointer;
  // Releasing a spare may send messages, which store other spares. After a few rounds the remaining
  // ones are lost.
  for (int rounds = 4, is_empty = 0; !is_empty && rounds > 0; rounds--) {
    is_empty = 1;
    for (int i = 0; i < FWD_SPARES; i++) {
      void *spare = thread->spares[i];
      thread->spares[i] = NULL;
      thread->spare_keys[i] = NULL;
      if (!spare || !release_spare) continue;
      is_empty = 0;
      release_spare(spare);
    }
  }
  fwd_thread_or_null = NULL;
  pthread_mutex_lock(&fwd_threads_lock);
  unlink_thread(thread);
  // The thread may have ended in the middle of a call: its holds are released.
  FWDRetirable *dead = fwd_end_holds(thread);
  pthread_mutex_unlock(&fwd_threads_lock);
  free(thread);
  fwd_dispose_all(dead);
}

static void set_up(void) {
  has_key = pthread_key_create(&key, leave) == 0;
  fwd_set_up_barriers();
}

void fwd_set_up_threads(void) { pthread_once(&once, set_up); }

FWDThread *fwd_thread_enter(void) {
  fwd_set_up_threads();
  FWDThread *thread = calloc(1, sizeof *thread);
  if (!thread) return NULL;
  thread->high = FIRST_HIGH;
  thread->top = thread->holds;
  thread->room = thread->holds + FIRST_HIGH;
  thread->keeps_spares = KEEPS_SPARES;
  pthread_mutex_lock(&fwd_threads_lock);
  thread->last_message = ++thread_numbers << 40;
  thread->makes_barriers = fwd_new_thread_makes_barriers();
  thread->next = fwd_threads;
  if (fwd_threads) fwd_threads->previous = thread;
  fwd_threads = thread;
  pthread_mutex_unlock(&fwd_threads_lock);
  // Without a key, the record of a thread that ends is leaked, and there is no other effect.
  if (has_key) pthread_setspecific(key, thread);
  fwd_thread_or_null = thread;
  return thread;
}

size_t fwd_thread_count(void) {
  size_t count = 0;
  pthread_mutex_lock(&fwd_threads_lock);
  for (FWDThread *thread = fwd_threads; thread; thread = thread->next) count++;
  pthread_mutex_unlock(&fwd_threads_lock);
  return count;
}
