// SPDX-License-Identifier: Apache-2.0
// Repeats the work of the C core with allocation 1, 2, 3, ... failing, until no allocation is left
// to fail. Each run must end with typed failures or with success, and without a leak. Failures that
// stop the process by design, as with Swift's own allocations, are not included.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "CForwardingShims.h"
#include "objects.h"

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "allocations.c:%d: with %ld failing: %s\n", __LINE__, failing, #condition);  \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

// MARK: Failing allocations

static long failing, allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_ffi_closure_alloc(size_t size, void **code);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_ffi_closure_alloc(size_t size, void **code);

static int fails(void) { return ++allocations == failing; }

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }
void *__wrap_ffi_closure_alloc(size_t size, void **code) {
  return fails() ? NULL : __real_ffi_closure_alloc(size, code);
}

// MARK: Plans and callbacks

static const FWDValue nothing = {0, 1, FWDKindNothing, FWDClassNone, FWDClassNone, 0, 0};
static const FWDValue word = {8, 8, FWDKindInt64, FWDClassInteger, FWDClassNone, 0, 0};
static const FWDValue text = {8, 8, FWDKindCString, FWDClassInteger, FWDClassNone, 0, 0};
static const FWDValue large = {6000, 8, FWDKindAggregate, FWDClassMemory, FWDClassNone, 0, 0};

typedef struct Large { uint64_t words[750]; } Large;

typedef struct Counted {
  const FWDPlanFacts *facts;
  int calls;
} Counted;

static void answer(void *context, FWDFrame *frame) {
  Counted *counted = context;
  uint64_t argument;
  counted->calls++;
  memcpy(&argument, (char *)frame + counted->facts->slots[0].offset, sizeof argument);
  argument++;
  memcpy((char *)frame + counted->facts->result.offset, &argument, sizeof argument);
}

static void answer_large(void *context, FWDFrame *frame) {
  const FWDPlanFacts *facts = fwd_plan_facts((const FWDPlan *)context);
  uint64_t *result = (uint64_t *)((char *)frame + facts->result.offset);
  const uint64_t *argument = (const uint64_t *)((char *)frame + facts->slots[0].offset);
  memcpy(result, argument, sizeof(Large));
}

static int releases;
static void release(void *context) {
  (void)context;
  releases++;
}

static int events;
static void note_event(FWDEvent event, const void *function) {
  CHECK(event == FWDEventCallbackWithoutMemory);
  CHECK(function != NULL);
  events++;
}

static FWDPlan *plan_of(const FWDValue *values, size_t count) {
  FWDPlan *plan = NULL;
  size_t index = 0;
  FWDStatus status = fwd_plan_create(values, count, count + 1, &plan, &index);
  CHECK(status == FWDStatusOk || (status == FWDStatusOutOfMemory && failing > 0));
  CHECK((status == FWDStatusOk) == (plan != NULL));
  return plan;
}

static void call_back(int prefers_libffi) {
  fwd_callback_prefer_libffi(prefers_libffi);
  FWDPlan *plan = plan_of((FWDValue[]){word, word}, 1);
  if (!plan) return;
  Counted counted = {fwd_plan_facts(plan), 0};
  int before = releases, error = 0;
  const void *function = NULL;
  FWDCallbackBody body = {.handler = answer, .context = &counted, .release = release};
  FWDCallback *callback = fwd_callback_create(plan, body, &function, &error);
  if (callback) {
    CHECK(((uint64_t(*)(uint64_t))function)(41) == 42);
    CHECK(counted.calls == 1);
    fwd_callback_destroy(callback);
    CHECK(releases == before + 1);
  } else {
    CHECK(error == ENOMEM);
    CHECK(releases == before);
  }
  fwd_plan_destroy(plan);
}

static void call_back_with_much(int prefers_libffi) {
  fwd_callback_prefer_libffi(prefers_libffi);
  FWDPlan *plan = plan_of((FWDValue[]){large, large}, 1);
  if (!plan) return;
  int error = 0;
  const void *function = NULL;
  FWDCallbackBody body = {.handler = answer_large, .context = plan, .release = release};
  FWDCallback *callback = fwd_callback_create(plan, body, &function, &error);
  if (callback) {
    Large argument, result;
    memset(&argument, 7, sizeof argument);
    int before = events;
    result = ((Large(*)(Large))function)(argument);
    // A call without memory for its arguments returns zero and reports an event.
    CHECK(result.words[0] == (events == before ? argument.words[0] : 0));
    CHECK(result.words[749] == (events == before ? argument.words[749] : 0));
    fwd_callback_destroy(callback);
  }
  fwd_plan_destroy(plan);
}

// MARK: Methods

/// The table of methods grows. A failure to grow costs at most the method that was to be added.
static void remember_methods(void) {
  enum { METHODS = 200 };
  const uintptr_t selector = 8;
  for (uintptr_t i = 1; i <= METHODS; i++)
    fwd_method_remember((FWDMethod){.type = 64 * i, .selector = selector}, fwd_method_epoch(selector));
  int found = 0;
  for (uintptr_t i = 1; i <= METHODS; i++)
    found += fwd_method_find(fwd_method_cache, 64 * i, selector) != NULL;
  CHECK(found == METHODS || (found == METHODS - 1 && failing > 0));
  fwd_methods_forget(selector);
}

// MARK: Lists

static void publish(void) {
  FWDPlan *plan = plan_of((FWDValue[]){nothing, word, word}, 2);
  if (plan) fwd_plan_destroy(plan);
  // Swift objects: a header, and the target after it.
  static struct { uint64_t header[2]; FWDTarget target; } objects[3];
  const void *members[3];
  for (size_t i = 0; i < 3; i++) {
    objects[i].target = (FWDTarget){.object = &objects[i]};
    members[i] = &objects[i];
  }
  // A failed allocation of a list stops the process by design.
  long later = failing;
  failing = 0;
  FWDTargetList *list = fwd_list_make(members, 3, 0);
  failing = later;
  static FWDListPlace place;
  fwd_publish(&place.list, list);
  FWDThread *thread = fwd_thread();
  if (thread && fwd_hold(thread, &place.list)) fwd_let_go(thread);
  CHECK(*count_of(&objects[1]) == 1);
  fwd_targets_retire(&place, fwd_publish(&place.list, NULL));
  for (size_t i = 0; i < 3; i++) CHECK(*count_of(&objects[i]) == 0);
}

static void run(void) {
  FWDPlan *texts = plan_of((FWDValue[]){text, text, large, word}, 3);
  if (texts) fwd_plan_destroy(texts);
  for (int prefers_libffi = 0; prefers_libffi < 2; prefers_libffi++) {
    call_back(prefers_libffi);
    call_back_with_much(prefers_libffi);
  }
  remember_methods();
  publish();
}

/// The first callback of a kind finds no code of an earlier one.
static void call_back_first(int prefers_libffi) {
  for (failing = 1;; failing++) {
    allocations = 0;
    call_back(prefers_libffi);
    if (allocations < failing) break;
  }
}

int main(void) {
  fwd_set_event_handler(note_event);
  call_back_first(0);
  call_back_first(1);
  for (failing = 1;; failing++) {
    allocations = 0;
    run();
    if (allocations < failing) break;
  }
  long injected = failing - 1;
  failing = 0;
  run();
  CHECK(injected > 10);
  CHECK(events == 2);
  printf("Allocations: each of %ld failed in turn.\n", injected);
  return 0;
}
