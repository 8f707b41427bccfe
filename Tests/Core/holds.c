// SPDX-License-Identifier: Apache-2.0
// Threads hold things in nested holds, and come and go, while two others replace the held things
// (`fwd_hold.h`). Each thing must be disposed of once, never while it is held, and must be gone as
// soon as no thread is active, although the threads that held it live on.
//
// Takes the number of seconds to run.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "CForwardingShims.h"
#include "objects.h"

enum {
  PLACES = 2,
  READERS = 3,
  WRITERS = 2,
  HOLDS = FWD_HOLDS_MAX,
  READS = 12,  // The number of starts of a reader in one round,
  WRITES = 24, // and of replacements by a writer.
  LIVE = 0x11FE11FE,
  DEAD = 0x0DEAD0DE,
};

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "holds.c:%d: in round %ld: %s\n", __LINE__, rounds, #condition);             \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

static long rounds;

// MARK: Things

typedef struct Thing {
  FWDRetirable retirable;
  uint32_t mark;
  uint64_t serial;
} Thing;

static const void *places[PLACES];
static uint64_t made, disposed, replaced;

static Thing *make(void) {
  Thing *thing = calloc(1, sizeof *thing);
  CHECK(thing != NULL);
  thing->serial = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
  thing->mark = LIVE;
  return thing;
}

/// Another thing may have reused the memory; it has another serial number.
static void look(const volatile Thing *thing, uint64_t serial) {
  CHECK(thing->mark == LIVE);
  CHECK(thing->serial == serial);
}

static void dispose(FWDRetirable *retirable) {
  Thing *thing = (Thing *)retirable;
  CHECK(thing->mark == LIVE);
  thing->mark = DEAD;
  __atomic_add_fetch(&disposed, 1, __ATOMIC_RELAXED);
  if (thing->serial % 8 == 0) {
    // A dispose function may run any code, including code that holds something.
    FWDThread *thread = fwd_thread();
    FWDHold *hold = thread->top;
    const Thing *other = fwd_hold(thread, &places[0]);
    if (other) look(other, other->serial);
    if (other) fwd_let_go_from(thread, hold);
  }
  free(thing);
}

static void replace(size_t place, Thing *thing) {
  Thing *old = fwd_publish(&places[place], thing);
  if (old) fwd_retire(&old->retirable, dispose);
  __atomic_add_fetch(&replaced, 1, __ATOMIC_RELAXED);
}

// MARK: Readers

// More than a processor's caches and store buffers hold.
enum { LINES = 1 << 17, STORES = 100 };

typedef struct Reader {
  uint64_t random;
  int may_end;
  /// Whether the thread must have room.
  int must_succeed;
  char (*lines)[64];
} Reader;

static uint64_t number_below(Reader *reader, uint64_t limit) {
  reader->random = reader->random * 6364136223846793005u + 1442695040888963407u;
  return (reader->random >> 33) % limit;
}

/// Makes slow stores, so that the next one becomes visible late, or waits in the store buffer.
static void keep_stores_back(Reader *reader) {
  for (uint64_t i = number_below(reader, 2) ? STORES : 0; i > 0; i--)
    reader->lines[number_below(reader, LINES)][0] = (char)i;
}

static int goes_deeper(Reader *reader, int depth) {
  if (reader->must_succeed) return depth + 1 < HOLDS;
  return depth < HOLDS && number_below(reader, 4) > 0;
}

static void nest(Reader *reader, int depth) {
  FWDThread *thread = fwd_thread();
  const void *const *place = &places[number_below(reader, PLACES)];
  keep_stores_back(reader);
  const Thing *thing = fwd_hold(thread, place);
  if (reader->must_succeed) CHECK(thing != NULL);
  uint64_t serial = thing ? thing->serial : 0;
  for (uint64_t i = number_below(reader, 40); thing && i > 0; i--) look(thing, serial);
  if (goes_deeper(reader, depth))
    nest(reader, depth + 1);
  else if (reader->may_end)
    pthread_exit(NULL);
  if (!thing) return;
  look(thing, serial);
  keep_stores_back(reader);
  fwd_let_go(thread);
}

static void read_for_a_round(Reader *reader) {
  for (int i = 0; i < READS; i++) nest(reader, 0);
}

/// Takes each slot that there is.
static void fill(Reader *reader) {
  FWDThread *thread = fwd_thread();
  CHECK(thread->top == thread->holds);
  reader->must_succeed = 1;
  nest(reader, 0);
  reader->must_succeed = 0;
}

static Reader *make_reader(uint64_t seed) {
  Reader *reader = calloc(1, sizeof *reader);
  reader->random = seed;
  reader->lines = calloc(LINES, sizeof *reader->lines);
  CHECK(reader->lines != NULL);
  return reader;
}

static void destroy_reader(Reader *reader) {
  free(reader->lines);
  free(reader);
}

/// Stops a reader where it is until other threads have replaced something.
static void pause_reader(int signal) {
  (void)signal;
  uint64_t before = __atomic_load_n(&replaced, __ATOMIC_RELAXED);
  for (int i = 0; i < 20000; i++)
    if (__atomic_load_n(&replaced, __ATOMIC_RELAXED) > before + 1) return;
}

// MARK: Rounds

static pthread_barrier_t begin, quiet;
static int is_over;
static pthread_t threads[READERS + WRITERS];

static void *read_places(void *argument) {
  Reader *reader = argument;
  for (;;) {
    pthread_barrier_wait(&begin);
    if (is_over) return NULL;
    read_for_a_round(reader);
    if (rounds % 16 == 1) fill(reader);
    pthread_barrier_wait(&quiet);
  }
}

static void *write_places(void *argument) {
  Reader *reader = argument;
  for (;;) {
    pthread_barrier_wait(&begin);
    if (is_over) return NULL;
    for (int i = 0; i < WRITES; i++) {
      size_t place = number_below(reader, PLACES);
      if (number_below(reader, 2)) pthread_kill(threads[number_below(reader, READERS)], SIGUSR1);
      if (number_below(reader, 4) > 0) {
        replace(place, make());
        continue;
      }
      // A thread may also retire a thing that it holds itself.
      FWDThread *thread = fwd_thread();
      const Thing *thing = fwd_hold(thread, &places[place]);
      CHECK(thing != NULL);
      uint64_t serial = thing->serial;
      replace(place, make());
      look(thing, serial);
      fwd_let_go(thread);
    }
    pthread_barrier_wait(&quiet);
  }
}

/// A thread that exits inside its holds.
static void *come_and_go(void *argument) {
  Reader *reader = argument;
  read_for_a_round(reader);
  reader->may_end = 1;
  nest(reader, 0);
  return NULL;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void start(pthread_t *thread, void *(*body)(void *), void *argument) {
  CHECK(pthread_create(thread, NULL, body, argument) == 0);
}

int main(int count, char **arguments) {
  double end = now() + (count > 1 ? atof(arguments[1]) : 1);
  for (size_t i = 0; i < PLACES; i++) replace(i, make());
  pthread_barrier_init(&begin, NULL, READERS + WRITERS + 1);
  pthread_barrier_init(&quiet, NULL, READERS + WRITERS + 1);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = pause_reader, .sa_flags = SA_RESTART}, NULL);
  pthread_t guest;
  Reader *readers[READERS + WRITERS], *visitor = make_reader(99);
  for (size_t i = 0; i < READERS + WRITERS; i++) {
    readers[i] = make_reader(i);
    start(&threads[i], i < READERS ? read_places : write_places, readers[i]);
  }
  while (now() < end) {
    rounds++;
    pthread_barrier_wait(&begin);
    visitor->may_end = 0;
    start(&guest, come_and_go, visitor);
    pthread_join(guest, NULL);
    pthread_barrier_wait(&quiet);
    // No thread holds anything, and all threads but the guest are alive.
    CHECK(made - disposed == PLACES);
    CHECK(fwd_thread_count() <= READERS + WRITERS + 1);
  }
  is_over = 1;
  pthread_barrier_wait(&begin);
  for (size_t i = 0; i < READERS + WRITERS; i++) {
    pthread_join(threads[i], NULL);
    destroy_reader(readers[i]);
  }
  destroy_reader(visitor);
  for (size_t i = 0; i < PLACES; i++) replace(i, NULL);
  CHECK(made == disposed);
  printf("Holds: %llu things in %ld rounds, each disposed of once.\n", (unsigned long long)made,
         rounds);
  return 0;
}
