// SPDX-License-Identifier: Apache-2.0
// A list's record of its awaited deliveries, and lists that such deliveries retain.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "CForwardingShims.h"

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "lists.c:%d: %s\n", __LINE__, #condition);                                   \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

typedef struct Object {
  uint64_t header[2];
  FWDTarget target;
  long references;
} Object;

static Object objects[3];

void *swift_unownedRetain(void *object) { return object; }
void swift_unownedRelease(void *object) { (void)object; }
void *swift_retain(void *object) {
  __atomic_add_fetch(&((Object *)object)->references, 1, __ATOMIC_RELAXED);
  return object;
}
void *swift_tryRetain(void *object) { return swift_retain(object); }
void swift_release(void *object) {
  CHECK(__atomic_sub_fetch(&((Object *)object)->references, 1, __ATOMIC_RELAXED) >= 0);
}
_Bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
  return ((const Object *)object)->references == 1;
}

/// Checks a list's record of awaited deliveries: their number, and the newest member that they may
/// deliver to.
static void check_awaited(FWDOwnedList *list, uint32_t rules, uint64_t count, uint64_t newest) {
  CHECK(fwd_list_rules(list) == rules);
  CHECK(list->state / FWD_LIST_AWAITED == count);
  CHECK(fwd_list_is_awaited(list, 0) == (count > 0));
  CHECK(fwd_list_is_awaited(list, newest) == (count > 0));
  CHECK(!fwd_list_is_awaited(list, newest + 1) || newest >= FWD_LIST_NEWEST_MAX);
}

/// Nested deliveries: the newest member is the maximum over all, and is forgotten after the last
/// one.
static void check_nested(void) {
  FWDOwnedList list = {0};
  uint32_t rules = FWD_LIST_FIRST_RESULT | FWD_LIST_OF_ONE | FWD_LIST_FIRST_ERROR;
  fwd_list_set_rules(&list, rules, 1);
  check_awaited(&list, rules, 0, 0);
  fwd_list_begin_awaited(&list, 5);
  check_awaited(&list, rules, 1, 5);
  fwd_list_begin_awaited(&list, 3);
  check_awaited(&list, rules, 2, 5);
  fwd_list_begin_awaited(&list, 9);
  check_awaited(&list, rules, 3, 9);
  // The rules change during the deliveries.
  fwd_list_set_rules(&list, FWD_LIST_ASKS_ONE, 1);
  check_awaited(&list, rules | FWD_LIST_ASKS_ONE, 3, 9);
  fwd_list_set_rules(&list, FWD_LIST_ASKS_ONE | FWD_LIST_OF_ONE, 0);
  rules = FWD_LIST_FIRST_RESULT | FWD_LIST_FIRST_ERROR;
  check_awaited(&list, rules, 3, 9);
  for (uint64_t left = 2; left > 0; left--) {
    fwd_list_end_awaited(&list);
    check_awaited(&list, rules, left, 9);
  }
  fwd_list_end_awaited(&list);
  CHECK(list.state == rules);
  fwd_list_begin_awaited(&list, 2);
  check_awaited(&list, rules, 1, 2);
  fwd_list_end_awaited(&list);
  fwd_list_begin_awaited(&list, 0);
  check_awaited(&list, rules, 1, 0);
}

/// Numbers above the maximum are recorded as the maximum; too many deliveries stay recorded for
/// good.
static void check_saturation(void) {
  FWDOwnedList list = {0};
  fwd_list_set_rules(&list, FWD_LIST_ASKS_ONE, 1);
  for (uint64_t over = 0; over < 3; over++) {
    fwd_list_begin_awaited(&list, FWD_LIST_NEWEST_MAX - 1 + over);
    check_awaited(&list, FWD_LIST_ASKS_ONE, over + 1, FWD_LIST_NEWEST_MAX - 1 + over);
  }
  fwd_list_begin_awaited(&list, UINT64_MAX);
  check_awaited(&list, FWD_LIST_ASKS_ONE, 4, UINT64_MAX);
  while (list.state >= FWD_LIST_AWAITED) fwd_list_end_awaited(&list);
  CHECK(list.state == FWD_LIST_ASKS_ONE);

  uint64_t most = FWD_LIST_AWAITED_FOR_GOOD / FWD_LIST_AWAITED;
  list.state = (most - 2) * FWD_LIST_AWAITED + 4 * FWD_LIST_NEWEST + FWD_LIST_ASKS_ONE;
  fwd_list_begin_awaited(&list, 6);
  check_awaited(&list, FWD_LIST_ASKS_ONE, most - 1, 6);
  fwd_list_end_awaited(&list);
  check_awaited(&list, FWD_LIST_ASKS_ONE, most - 2, 6);
  for (int i = 0; i < 5; i++) fwd_list_begin_awaited(&list, 7);
  check_awaited(&list, FWD_LIST_ASKS_ONE, most, 7);
  for (int i = 0; i < 9; i++) fwd_list_end_awaited(&list);
  check_awaited(&list, FWD_LIST_ASKS_ONE, most, 7);
  fwd_list_begin_awaited(&list, 8);
  check_awaited(&list, FWD_LIST_ASKS_ONE, most, 8);
  fwd_list_set_rules(&list, FWD_LIST_ASKS_ONE, 0);
  check_awaited(&list, 0, most, 8);
}

enum { Awaiters = 4, Deliveries = 20000 };

static FWDOwnedList shared;

static void *deliver(void *argument) {
  uint64_t number = (uint64_t)(uintptr_t)argument;
  for (uint64_t i = 0; i < Deliveries; i++) {
    fwd_list_begin_awaited(&shared, number * Deliveries + i);
    CHECK(fwd_list_is_awaited(&shared, number * Deliveries + i));
    fwd_list_set_rules(&shared, 1u << number % 3, i % 2 == 0);
    fwd_list_end_awaited(&shared);
  }
  return NULL;
}

/// Threads that begin and end deliveries and change the rules do not lose each other's changes.
static void check_threads(void) {
  pthread_t threads[Awaiters];
  for (uintptr_t i = 0; i < Awaiters; i++) CHECK(pthread_create(threads + i, NULL, deliver, (void *)i) == 0);
  for (int i = 0; i < Awaiters; i++) pthread_join(threads[i], NULL);
  CHECK(shared.state == 0);
}

static void *let_go(void *list) {
  fwd_list_let_go(list);
  return NULL;
}

static void check_references(long count) {
  for (int i = 0; i < 3; i++) CHECK(objects[i].references == count);
}

/// Publishes a list of three members.
static FWDTargetList *publish_three(FWDOwnedList *owner) {
  const void *members[3] = {&objects[0], &objects[1], &objects[2]};
  FWDTargetList *list = fwd_list_make(members, 3, 3);
  fwd_publish(&owner->place.list, list);
  return list;
}

static void withdraw(FWDOwnedList *owner) {
  FWDTargetList *list = fwd_publish(&owner->place.list, NULL);
  if (list) fwd_targets_retire(&owner->place, list);
}

/// A retained list outlives its place and its owner. Its members are released once, after the last
/// release of the list.
static void check_kept(void) {
  FWDOwnedList owner = {0};
  CHECK(!fwd_list_keep(&owner.place));
  FWDTargetList *list = publish_three(&owner);
  const FWDTargetList *kept = fwd_list_keep(&owner.place);
  CHECK(kept == list && fwd_list_keep(&owner.place) == list);
  fwd_list_let_go(kept);
  withdraw(&owner);
  CHECK(!fwd_list_keep(&owner.place));
  check_references(1);
  CHECK(kept->count == 3);
  for (int i = 0; i < 3; i++) CHECK(fwd_list_first(kept)[i] == &objects[i]);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, let_go, (void *)kept) == 0);
  pthread_join(thread, NULL);
  check_references(0);
}

/// A list that is both retained and held exists until both have ended, in either order.
static void check_kept_and_held(void) {
  for (int held_longer = 0; held_longer < 2; held_longer++) {
    FWDOwnedList owner = {0};
    publish_three(&owner);
    FWDThread *thread = fwd_thread();
    fwd_place_note_reader(&owner.place, thread);
    const FWDTargetList *kept = fwd_list_keep(&owner.place);
    CHECK(fwd_hold(thread, &owner.place.list) == kept);
    withdraw(&owner);
    if (held_longer) fwd_list_let_go(kept); else fwd_let_go(thread);
    check_references(1);
    if (held_longer) fwd_let_go(thread); else fwd_list_let_go(kept);
    check_references(0);
  }
}

/// An awaited delivery retains its list, and records that it has its owner's present members, and
/// no newer one.
static void check_rounds(void) {
  FWDOwnedList owner = {0};
  CHECK(!fwd_awaited_begin(&owner));
  CHECK(owner.state == 0);
  publish_three(&owner);
  const FWDTargetList *list = fwd_awaited_begin(&owner), *other = fwd_awaited_begin(&owner);
  CHECK(list && other == list);
  withdraw(&owner);
  CHECK(!fwd_awaited_begin(&owner));
  CHECK(fwd_list_is_awaited(&owner, 3) && !fwd_list_is_awaited(&owner, 4));
  CHECK(list->count == 3);
  fwd_awaited_end(list, &owner);
  CHECK(fwd_list_is_awaited(&owner, 3));
  check_references(1);
  fwd_awaited_end(other, &owner);
  CHECK(!fwd_list_is_awaited(&owner, 0));
  CHECK(owner.state == 0);
  check_references(0);
}

static int begun, is_over;

static void *await_lists(void *owner) {
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
    const FWDTargetList *list = fwd_awaited_begin(owner);
    if (!list) continue;
    fwd_awaited_end(list, owner);
    __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

/// A delivery that begins while its list is withdrawn leaves none behind.
static void check_withdrawn_meanwhile(void) {
  FWDOwnedList owner = {0};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, await_lists, &owner) == 0);
  for (int i = 0; i < 500; i++) {
    publish_three(&owner);
    while (i == 0 && !__atomic_load_n(&begun, __ATOMIC_RELAXED)) sched_yield();
    withdraw(&owner);
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  check_references(0);
}

/// Deliveries inside of each other, more than a thread has holds: the others count the list.
static void check_deep(FWDOwnedList *owner, FWDThread *thread, int depth) {
  if (depth == 0) return;
  FWDDirectRound round = fwd_direct_begin(fwd_list_place(owner), owner);
  CHECK(round.list && round.list == owner->place.list && (round.hold != NULL || depth <= 100 - FWD_HOLDS_MAX));
  check_deep(owner, thread, depth - 1);
  fwd_direct_end(round);
}

/// A delivery by a proxy holds the list and is in a step. It does not begin without a list.
static void check_direct(void) {
  FWDOwnedList owner = {0};
  FWDThread *thread = fwd_thread();
  const FWDHold *top = thread->top;
  CHECK(!fwd_direct_begin(fwd_list_place(&owner), &owner).list);
  publish_three(&owner);
  // The first delivery of a thread notes that it reads the place, the second one has nothing to note.
  for (int i = 0; i < 2; i++) {
    FWDDirectRound round = fwd_direct_begin(fwd_list_place(&owner), &owner);
    CHECK(round.list && round.list == owner.place.list && round.thread == thread);
    CHECK(thread->depth == 1 && thread->steps[0].object == &owner && thread->steps[0].message == 0);
    uint64_t number = fwd_direct_number(thread);
    CHECK(number && fwd_direct_number(thread) == number && thread->steps[0].message == number);
    fwd_direct_end(round);
    CHECK(thread->depth == 0 && thread->top == top);
  }
  check_deep(&owner, thread, 100);
  CHECK(thread->depth == 0 && thread->top == top);
  withdraw(&owner);
  check_references(0);
}

/// A count of blocks that reaches its maximum stays there; one below can be reduced.
static void check_blocks(void) {
  FWDTarget *target = &objects[0].target;
  target->flags = FWD_TARGET_BLOCKED_FOR_GOOD - 2 * FWD_TARGET_BLOCK + FWD_TARGET_STRONG;
  fwd_target_block(target);
  CHECK(fwd_target_unblock(target));
  CHECK(fwd_target_flags(target) < FWD_TARGET_BLOCKED_FOR_GOOD - FWD_TARGET_BLOCK);
  for (int i = 0; i < 5; i++) fwd_target_block(target);
  for (int i = 0; i < 9; i++) CHECK(fwd_target_unblock(target));
  CHECK(fwd_target_flags(target) == FWD_TARGET_BLOCKED_FOR_GOOD + FWD_TARGET_STRONG);
  target->flags = 0;
}

int main(void) {
  check_blocks();
  check_nested();
  check_saturation();
  check_threads();
  check_kept();
  check_kept_and_held();
  check_rounds();
  check_withdrawn_meanwhile();
  check_direct();
  printf("Lists: %d deliveries of %d threads.\n", Awaiters * Deliveries, Awaiters);
  return 0;
}
