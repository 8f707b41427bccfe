#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "CForwardingShims.h"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// ThreadSanitizer knows no barriers of other threads.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FWD_ALWAYS_BARRIERS 1
#endif
#endif

_Thread_local FWDThread *fwd_thread_or_null;
int fwd_readers_need_barriers = 1;
int fwd_letting_go_is_slow = 1;
static size_t retired_count;
static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;

static FWDThread *threads;
static void (*release_spare)(void *);
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;
static uint64_t thread_numbers;

static void leave(void *pointer) {
  FWDThread *thread = pointer;
  for (int i = 0; i < FWD_SPARES; i++) {
    void *spare = thread->spares[i];
    thread->spares[i] = NULL;
    thread->spare_keys[i] = NULL;
    // Releasing one may send messages and so fill a place again; the last ones are then kept by
    // whoever takes the record over.
    if (spare && release_spare) release_spare(spare);
  }
  // A thread that is ended in the middle of a call, or left one by a jump, holds nothing any more.
  for (int i = 0; i < FWD_HOLDS_MAX; i++)
    __atomic_store_n((const void **)&thread->held[i], NULL, __ATOMIC_RELEASE);
  thread->count = 0;
  thread->depth = 0;
  while (thread->block_count > 0) free(thread->blocks[--thread->block_count]);
  fwd_thread_or_null = NULL;
  __atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
}

#if defined(__linux__) && !defined(FWD_ALWAYS_BARRIERS)
static int ask_for_barrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/// Makes every running thread pass a barrier. A child process may have to ask for it again.
static int pass_barrier_everywhere(void) {
  if (ask_for_barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return 1;
  return ask_for_barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
         ask_for_barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
static int pass_barrier_everywhere(void) { return 0; }
#endif

/// What a writer does between publishing and looking for readers. 0 if readers may be missed.
static int pass_barrier(void) {
  if (!__atomic_load_n(&fwd_readers_need_barriers, __ATOMIC_ACQUIRE))
    return pass_barrier_everywhere();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return 1;
}

/// Called with the lock held.
static void note_how_to_let_go(void) {
  int is_slow = __atomic_load_n(&fwd_readers_need_barriers, __ATOMIC_RELAXED) != 0;
  // Counted up before something is looked for, so nobody misses it; a look too many does no harm.
  if (__atomic_load_n(&retired_count, __ATOMIC_SEQ_CST) != 0) is_slow = 1;
  __atomic_store_n(&fwd_letting_go_is_slow, is_slow, __ATOMIC_SEQ_CST);
}

static void set_up(void) {
  has_key = pthread_key_create(&key, leave) == 0;
  if (pass_barrier_everywhere())
    __atomic_store_n(&fwd_readers_need_barriers, 0, __ATOMIC_RELEASE);
  pthread_mutex_lock(&retired_lock);
  note_how_to_let_go();
  pthread_mutex_unlock(&retired_lock);
}

void fwd_set_spare_release(void (*release)(void *)) { release_spare = release; }

FWDThread *fwd_thread_enter(void) {
  pthread_once(&once, set_up);
  FWDThread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
  for (; thread; thread = thread->next) {
    uint32_t unused = 0;
    if (__atomic_compare_exchange_n(&thread->in_use, &unused, 1, 0, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      break;
  }
  if (!thread) {
    thread = calloc(1, sizeof *thread);
    if (!thread) return NULL;
    thread->in_use = 1;
    thread->last_message = __atomic_add_fetch(&thread_numbers, 1, __ATOMIC_RELAXED) << 40;
    FWDThread *first = __atomic_load_n(&threads, __ATOMIC_RELAXED);
    do
      thread->next = first;
    while (!__atomic_compare_exchange_n(&threads, &first, thread, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
  }
  // Without a key the record of a thread that ends is lost, and nothing else.
  if (has_key) pthread_setspecific(key, thread);
  fwd_thread_or_null = thread;
  return thread;
}

// MARK: Retired things

typedef struct Retired {
  void *thing;
  void (*dispose)(void *);
  struct Retired *next;
} Retired;

static Retired *retired;

static int is_held(const void *thing) {
  for (FWDThread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); thread;
       thread = thread->next)
    for (int i = 0; i < FWD_HOLDS_MAX; i++)
      if (__atomic_load_n(&thread->held[i], __ATOMIC_ACQUIRE) == thing) return 1;
  return 0;
}

void fwd_collect(void) {
  pthread_once(&once, set_up);
  Retired *free_list = NULL;
  // One at a time: whoever lets go of a thing meanwhile waits here, and then finds it.
  pthread_mutex_lock(&retired_lock);
  // Where the system refuses the barrier that it promised, nothing is safe to free.
  if (retired && pass_barrier()) {
    Retired **link = &retired;
    while (*link) {
      Retired *entry = *link;
      if (is_held(entry->thing)) {
        link = &entry->next;
        continue;
      }
      *link = entry->next;
      entry->next = free_list;
      free_list = entry;
      __atomic_sub_fetch(&retired_count, 1, __ATOMIC_SEQ_CST);
    }
    note_how_to_let_go();
  }
  pthread_mutex_unlock(&retired_lock);
  while (free_list) {
    Retired *next = free_list->next;
    free_list->dispose(free_list->thing);
    free(free_list);
    free_list = next;
  }
}

void fwd_let_go_slowly(void) {
  fwd_reader_barrier();
  if (__atomic_load_n(&retired_count, __ATOMIC_SEQ_CST) != 0) fwd_collect();
}

void fwd_retire(void *thing, void (*dispose)(void *)) {
  Retired *entry = malloc(sizeof *entry);
  // No memory to remember it: better to lose it than to free what somebody may hold.
  if (!entry) return;
  *entry = (Retired){thing, dispose, NULL};
  // Counted before it is looked for: whoever lets go after the look will look itself.
  pthread_mutex_lock(&retired_lock);
  __atomic_add_fetch(&retired_count, 1, __ATOMIC_SEQ_CST);
  note_how_to_let_go();
  entry->next = retired;
  retired = entry;
  pthread_mutex_unlock(&retired_lock);
  fwd_collect();
}
