// SPDX-License-Identifier: Apache-2.0
// Interrupts a thread with a hold at each of its instructions, and at each two of them, and
// replaces the held thing there. `holds.c` seldom interrupts a thread between two particular
// instructions; this program does so with the trap flag of x86-64. It does not test stores that
// become visible late, because a trap waits for them.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include "CForwardingShims.h"
#include "objects.h"

enum { LIVE = 0x11FE11FE, DEAD = 0x0DEAD0DE, TRAP_FLAG = 0x100, PATIENCE = 1000 * 1000 };

static long first, second, steps;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "interrupted.c:%d: at instructions %ld and %ld: %s\n", __LINE__, first,      \
              second, #condition);                                                                 \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

typedef struct Thing {
  FWDRetirable retirable;
  uint32_t mark;
  uint64_t serial;
} Thing;

static const void *place;
static uint64_t made, disposed;

static Thing *make(void) {
  Thing *thing = calloc(1, sizeof *thing);
  thing->serial = ++made;
  thing->mark = LIVE;
  return thing;
}

static void look(const volatile Thing *thing, uint64_t serial) {
  CHECK(thing->mark == LIVE);
  CHECK(thing->serial == serial);
}

static void dispose(FWDRetirable *retirable) {
  Thing *thing = (Thing *)retirable;
  CHECK(thing->mark == LIVE);
  thing->mark = DEAD;
  __atomic_add_fetch(&disposed, 1, __ATOMIC_RELAXED);
  free(thing);
}

// MARK: Replacing

static long asked, done;

static void *replace(void *unused) {
  for (;;) {
    while (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) == done) sched_yield();
    if (asked < 0) return unused;
    fwd_retire(fwd_publish(&place, make()), dispose);
    __atomic_store_n(&done, done + 1, __ATOMIC_RELEASE);
  }
}

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 * 1000 * 1000 + time.tv_nsec;
}

/// Waits for the replacement, but only for a limited time, because this thread may have the lock.
static void wait_for_replacement(long budget) {
  long end = now() + budget;
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != asked && now() < end) sched_yield();
}

// MARK: Stepping

static int is_stepping;

/// The bounds of the program without its libraries.
extern const char __executable_start, etext;

static void step(int signal, siginfo_t *info, void *context) {
  (void)signal;
  const char *instruction = info->si_addr;
  if (instruction < &__executable_start || instruction >= &etext) return;
  steps++;
  if (steps == first || steps == second) {
    __atomic_store_n(&asked, asked + 1, __ATOMIC_RELEASE);
    wait_for_replacement(PATIENCE);
  }
  if (!is_stepping || steps == (second ? second : first))
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

__attribute__((noinline)) static void start_stepping(void) {
  steps = 0;
  is_stepping = 1;
  __asm__ volatile(
      "subq $128, %%rsp\n pushfq\n orq %0, (%%rsp)\n popfq\n addq $128, %%rsp\n" ::"i"(TRAP_FLAG)
      : "memory", "cc");
}

static void stop_stepping(void) { *(volatile int *)&is_stepping = 0; }

__attribute__((noinline)) static void hold_inner(FWDThread *thread) {
  const Thing *thing = fwd_hold(thread, &place);
  uint64_t serial = thing->serial;
  look(thing, serial);
  fwd_let_go(thread);
}

__attribute__((noinline)) static void hold_outer(FWDThread *thread) {
  const Thing *thing = fwd_hold(thread, &place);
  uint64_t serial = thing->serial;
  hold_inner(thread);
  look(thing, serial);
  fwd_let_go(thread);
}

/// Returns whether the thread reached instruction `last`.
static int interrupt(void (*body)(FWDThread *), FWDThread *thread, long last) {
  start_stepping();
  body(thread);
  stop_stepping();
  wait_for_replacement(10L * 1000 * PATIENCE);
  CHECK(done == asked);
  CHECK(made - disposed == 1);
  return steps >= last;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  place = make();
  pthread_t replacer;
  CHECK(pthread_create(&replacer, NULL, replace, NULL) == 0);
  FWDThread *thread = fwd_thread();
  // Once inside two holds, and twice inside one.
  long runs = 0;
  second = 0;
  for (first = 1; interrupt(hold_outer, thread, first); first++) runs++;
  for (first = 1, second = 2; interrupt(hold_inner, thread, second); first++, second = first + 1)
    for (; interrupt(hold_inner, thread, second); second++) runs++;
  CHECK(runs > 500);
  asked = -1;
  pthread_join(replacer, NULL);
  fwd_retire(fwd_publish(&place, NULL), dispose);
  CHECK(made == disposed);
  printf("Interrupted: a thread that holds, in %ld ways.\n", runs);
  return 0;
}
