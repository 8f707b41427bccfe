// SPDX-License-Identifier: Apache-2.0
// Function pointers that lead to handlers (`fwd_callback.h`): the protection of their pages,
// thousands of them at once, in a child process, on several threads, after they are destroyed, and
// in backtraces.
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CForwardingShims.h"
#include "objects.h"

enum { LIVE = 3000, THREADS = 4, ROUNDS = 3000, MANY = 40, DEPTH = 64 };

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "callbacks.c:%d: %s\n", __LINE__, #condition);                               \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

typedef int64_t (*Function)(int64_t);

typedef struct Made {
  FWDCallback *callback;
  Function function;
  int64_t number;
  int released;
} Made;

static FWDPlan *plan, *large;
static int events;

static void count_event(FWDEvent event, const void *function) {
  (void)function;
  CHECK(event == FWDEventFreedCallback);
  __atomic_add_fetch(&events, 1, __ATOMIC_RELAXED);
}

static void add(void *context, FWDFrame *frame) {
  const Made *made = context;
  int64_t value;
  fwd_slot_load(&fwd_plan_facts(plan)->slots[0], frame, &value, sizeof value);
  value += made->number;
  fwd_slot_store(fwd_facts_result(fwd_plan_facts(plan)), frame, &value, sizeof value);
}

static void release(void *context) { ((Made *)context)->released = 1; }

static void make(Made *made, int64_t number) {
  const void *function;
  int error;
  *made = (Made){.number = number};
  FWDCallbackBody body = {.handler = add, .context = made, .release = release};
  made->callback = fwd_callback_create(plan, body, &function, &error);
  CHECK(made->callback);
  made->function = (Function)function;
}

static FWDPlan *plan_of(size_t count) {
  static FWDValue values[MANY + 1];
  for (size_t i = 0; i <= count; i++)
    values[i] = (FWDValue){.size = 8, .alignment = 8, .kind = FWDKindInt64, .first = FWDClassInteger};
  FWDPlan *made;
  size_t index;
  CHECK(fwd_plan_create(values, count, count + 1, &made, &index) == FWDStatusOk);
  return made;
}

// MARK: Pages

/// Checks that no memory is both writable and executable, and that the code at `function` is not
/// writable.
static void check_pages(Function function) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[4096];
  int found = 0;
  CHECK(maps);
  while (fgets(line, sizeof line, maps)) {
    unsigned long start, end, at = (unsigned long)function;
    char can[5];
    CHECK(sscanf(line, "%lx-%lx %4s", &start, &end, can) == 3);
    CHECK(can[1] != 'w' || can[2] != 'x');
    if (at < start || at >= end) continue;
    found = 1;
    CHECK(can[0] == 'r' && can[1] == '-' && can[2] == 'x' && can[3] == 'p');
  }
  fclose(maps);
  CHECK(found);
}

/// Turns on branch protection, if the processor has it: from here on a call may lead only to a
/// landing in this program's code, or in copies of it. In such a build all code is compiled with
/// landings.
static int guard_jumps(void) {
#if defined(__ARM_FEATURE_BTI_DEFAULT)
  if (!(getauxval(AT_HWCAP2) & HWCAP2_BTI)) return 0;
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[4096], own[4096] = "";
  unsigned long start, end;
  for (int pass = 0; pass < 2; pass++) {
    rewind(maps);
    while (fgets(line, sizeof line, maps)) {
      int path = 0;
      CHECK(sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &path) == 2);
      int is_here = (unsigned long)guard_jumps - start < end - start;
      if (pass == 0 && is_here) strcpy(own, line + path);
      if (pass == 1 && strstr(line, " r-xp ") && strcmp(own, line + path) == 0)
        CHECK(mprotect((void *)start, end - start, PROT_READ | PROT_EXEC | PROT_BTI) == 0);
    }
  }
  fclose(maps);
  return 1;
#else
  return 0;
#endif
}

// MARK: Many callbacks

static void call_all(Made *made) {
  // In scattered order, each once: 1,361 and the number of callbacks have no common divisor.
  for (int64_t i = 0, at = 0; i < LIVE; i++, at = (at + 1361) % LIVE)
    CHECK(made[at].function(i) == i + made[at].number);
}

static void check_child(Made *made) {
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    Made own;
    call_all(made);
    make(&own, 5);
    CHECK(own.function(1) == 6);
    fwd_callback_destroy(own.callback);
    CHECK(own.released);
    _Exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void check_end(Made *made) {
  for (int i = 0; i < LIVE; i++) {
    fwd_callback_destroy(made[i].callback);
    CHECK(made[i].released);
    CHECK(made[i].function(1) == 0 && made[i].function(2) == 0);
  }
  CHECK(events == LIVE);
}

static void *work(void *seed) {
  for (int64_t i = 0; i < ROUNDS; i++) {
    Made made;
    make(&made, i * 7 + (int64_t)(intptr_t)seed);
    CHECK(made.function(i) == i + made.number);
    fwd_callback_destroy(made.callback);
    CHECK(made.released);
  }
  return NULL;
}

static void check_threads(void) {
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) CHECK(!pthread_create(&threads[i], NULL, work, (void *)i));
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

// MARK: Backtraces

static void *seen[DEPTH];
static int seen_count;

static void look(void *context, FWDFrame *frame) {
  (void)context;
  seen_count = backtrace(seen, DEPTH);
  frame->result[0] = 1;
}

/// A call with many words on the stack, to a handler: there is assembly on both sides of the C
/// frames.
static void check_backtrace(void) {
  const void *function;
  int error;
  Made made = {0};
  FWDCallbackBody body = {.handler = look, .context = &made, .release = release};
  FWDCallback *callback = fwd_callback_create(large, body, &function, &error);
  CHECK(callback);
  const FWDPlanFacts *facts = fwd_plan_facts(large);
  FWDInvocationState *state = aligned_alloc(16, sizeof *state + facts->frame_size);
  fwd_call_begin(facts, state);
  fwd_call(facts, fwd_state_frame(state), function);
  void *here[DEPTH];
  int count = backtrace(here, DEPTH);
  // The innermost frame is this function, now at another address.
  CHECK(count > 2 && seen_count > count);
  for (int i = 1; i < count; i++) CHECK(seen[seen_count - i] == here[count - i]);
  fwd_callback_destroy(callback);
  free(state);
}

/// The line of an event names the function.
static void check_event(void) {
  char line[200] = "";
  int ends[2], errors = dup(2);
  CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
  fwd_write_event(FWDEventFreedCallback, (const void *)0x123456789abc);
  CHECK(dup2(errors, 2) == 2 && read(ends[0], line, sizeof line - 1) > 0);
  CHECK(strstr(line, "got zero: 0x123456789abc\n"));
}

int main(void) {
  static Made made[LIVE];
  plan = plan_of(1);
  large = plan_of(MANY);
  fwd_set_event_handler(count_event);
  int has_trampolines = fwd_callback_code() == FWDCallbackCodeTrampolines;
  CHECK(has_trampolines == fwd_has_direct_engine());
  for (int i = 0; i < LIVE; i++) make(&made[i], i * 3);
  if (has_trampolines) check_pages(made[LIVE - 1].function);
  int is_guarded = guard_jumps();
  call_all(made);
  check_child(made);
  check_backtrace();
  check_end(made);
  check_threads();
  check_event();
  printf("Callbacks: %d at a time, by %s%s.\n", LIVE, has_trampolines ? "trampolines" : "libffi",
         is_guarded ? ", where jumps are guarded" : "");
  // The exit code of other images has no landings.
  fflush(NULL);
  _Exit(0);
}
