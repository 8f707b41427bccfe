// SPDX-License-Identifier: Apache-2.0
/// Holding and retiring objects; `fwd_hold.h` describes the protocol.
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "CForwardingShims.h"
#include "fwd_hold_internal.h"

// MARK: Barriers

/// Whether readers make barriers; each thread has a copy, which is faster to read. Guarded by the
/// threads lock.
static int readers_need_barriers = 1;

static void let_readers_make_barriers(int they_do) {
  readers_need_barriers = they_do;
  for (FWDThread *thread = fwd_threads; thread; thread = thread->next)
    __atomic_store_n(&thread->makes_barriers, they_do, __ATOMIC_SEQ_CST);
}

#if !FWD_WITH_THREAD_SANITIZER
static int ask_for_barrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/// Makes every running thread execute a barrier.
static int pass_barrier_everywhere(void) {
  return ask_for_barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
         (ask_for_barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
          ask_for_barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}
#else
// ThreadSanitizer does not model barriers on other threads.
static int pass_barrier_everywhere(void) { return 0; }
#endif

void fwd_set_up_barriers(void) {
  int works = pass_barrier_everywhere();
  pthread_mutex_lock(&fwd_threads_lock);
  let_readers_make_barriers(!works);
  pthread_mutex_unlock(&fwd_threads_lock);
}

int fwd_new_thread_makes_barriers(void) { return readers_need_barriers; }

/// Waits until every store is visible that a reader made before it saw that it must make barriers:
/// processors delay stores for less than a microsecond, and only while the thread runs.
static void outwait_store_buffers(void) {
  struct timespec rest = {.tv_nsec = 10 * 1000 * 1000};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
}

/// The writers' barrier, between a change and reading the readers' slots.
static void make_barrier(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (readers_need_barriers) return;
  if (pass_barrier_everywhere()) return;
  // The process has lost the right to the system call, as in a sandbox: readers make their own
  // barriers from now on.
  let_readers_make_barriers(1);
  outwait_store_buffers();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// MARK: Marks

// The threads lock guards all of this.

/// Removes the mark of a slot, and prepends its object to `dead` if this was the last mark.
static FWDRetirable *unmark(FWDHold *hold, FWDRetirable *dead) {
  FWDRetirable *thing = hold->wanted;
  __atomic_store_n(&hold->wanted, NULL, __ATOMIC_RELAXED);
  if (!thing || --thing->holds > 0) return dead;
  thing->next = dead;
  return thing;
}

static int is_in(const FWDHold *hold, const FWDRetirable *thing) {
  return __atomic_load_n(&hold->thing, __ATOMIC_ACQUIRE) == (const void *)thing;
}

/// Marks every slot that may hold `thing`; 0 if there is no such slot.
static int mark(FWDRetirable *thing, FWDRetirable **dead) {
  int found = 0;
  for (FWDThread *thread = fwd_threads; thread; thread = thread->next) {
    uint32_t high = __atomic_load_n(&thread->high, __ATOMIC_ACQUIRE);
    for (FWDHold *hold = thread->holds; hold < thread->holds + high; hold++) {
      if (!is_in(hold, thing)) continue;
      // The slot was filled again, and its reader has not removed the mark of the earlier object yet.
      if (hold->wanted) *dead = unmark(hold, *dead);
      thing->holds++;
      __atomic_store_n(&hold->wanted, thing, __ATOMIC_RELAXED);
      found = 1;
    }
  }
  return found;
}

/// Removes the marks of slots that were released before their threads could see the marks.
static void check_marks(FWDRetirable *thing) {
  for (FWDThread *thread = fwd_threads; thread; thread = thread->next) {
    uint32_t high = __atomic_load_n(&thread->high, __ATOMIC_ACQUIRE);
    for (FWDHold *hold = thread->holds; hold < thread->holds + high; hold++)
      if (hold->wanted == thing && !is_in(hold, thing)) {
        thing->holds--;
        __atomic_store_n(&hold->wanted, NULL, __ATOMIC_RELAXED);
      }
  }
}

FWDRetirable *fwd_end_holds(FWDThread *thread) {
  FWDRetirable *dead = NULL;
  for (FWDHold *hold = thread->holds; hold < thread->holds + thread->high; hold++) {
    __atomic_store_n((const void **)&hold->thing, NULL, __ATOMIC_RELEASE);
    dead = unmark(hold, dead);
  }
  return dead;
}

void fwd_dispose_all(FWDRetirable *dead) {
  while (dead) {
    FWDRetirable *next = dead->next;
    dead->dispose(dead);
    dead = next;
  }
}

// MARK: Functions for readers and writers

void fwd_retire(FWDRetirable *thing, void (*dispose)(FWDRetirable *)) {
  fwd_set_up_threads();
  thing->dispose = dispose;
  thing->holds = 0;
  pthread_mutex_lock(&fwd_threads_lock);
  FWDRetirable *dead = NULL;
  make_barrier();
  if (mark(thing, &dead)) {
    // A reader that releases its hold after this barrier sees the mark.
    make_barrier();
    check_marks(thing);
  }
  if (thing->holds == 0) {
    thing->next = dead;
    dead = thing;
  }
  pthread_mutex_unlock(&fwd_threads_lock);
  fwd_dispose_all(dead);
}

void fwd_let_go_of_retired(FWDHold *hold) {
  pthread_mutex_lock(&fwd_threads_lock);
  FWDRetirable *dead = unmark(hold, NULL);
  pthread_mutex_unlock(&fwd_threads_lock);
  fwd_dispose_all(dead);
}

const void *fwd_hold_again(FWDThread *thread, FWDHold *hold,
                           const void *_Nullable const *cell) {
  const void *seen, *now = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
  do {
    seen = now;
    __atomic_store_n((const void **)&hold->thing, seen, __ATOMIC_RELEASE);
    fwd_reader_barrier(thread);
    now = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
  } while (now != seen);
  // The previous object of the slot may have been retired. The current one may be too, and its mark
  // stays.
  if (__atomic_load_n(&hold->wanted, __ATOMIC_RELAXED)) {
    pthread_mutex_lock(&fwd_threads_lock);
    FWDRetirable *dead = NULL;
    if (!is_in(hold, hold->wanted)) dead = unmark(hold, dead);
    pthread_mutex_unlock(&fwd_threads_lock);
    fwd_dispose_all(dead);
  }
  return seen;
}

int fwd_make_room(FWDThread *thread, FWDHold *hold) {
  uint32_t high = (uint32_t)(hold - thread->holds) + 1;
  if (high > thread->high) __atomic_store_n(&thread->high, high, __ATOMIC_RELEASE);
  if (high > FWD_HOLDS_MAX) return 0;
  thread->room = hold + 1;
  return 1;
}
