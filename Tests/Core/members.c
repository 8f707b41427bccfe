// SPDX-License-Identifier: Apache-2.0
// Random changes of the members of a list, compared with an array. Lists that were made earlier do
// not change, and every member is released as often as it was retained.
#include <stdio.h>
#include <stdlib.h>

#include "CForwardingShims.h"

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "members.c:%d: seed %d: %s\n", __LINE__, seed, #condition);                  \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { Objects = 3000, Lists = 8, Seeds = 40, Steps = 6000 };

typedef struct Object {
  uint64_t header[2];
  FWDTarget target;
  long references;
  int is_in;
} Object;

static int seed;
static Object objects[Objects];

void *swift_unownedRetain(void *object) { return object; }
void swift_unownedRelease(void *object) { (void)object; }
void *swift_tryRetain(void *object) { return ((Object *)object)->references++, object; }
void *swift_retain(void *object) { return ((Object *)object)->references++, object; }
void swift_release(void *object) { CHECK(--((Object *)object)->references >= 0); }
_Bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
  return ((const Object *)object)->references == 1;
}

/// The expected members.
typedef struct Row {
  Object *objects[Objects];
  int count;
} Row;

static Row row, rows[Lists];
static FWDTargetList *lists[Lists];
static FWDListPlace place;
static FWDMembers members;

static void check_members(void) {
  int index = 0;
  for (uint32_t i = 0; i < members.count; i++) {
    FWDTargetChunk *chunk = fwd_members_chunk(&members, i);
    CHECK(chunk->position == i);
    CHECK(chunk->count > 0);
    CHECK(chunk->count <= chunk->room);
    CHECK(chunk->room <= FWD_CHUNK_MAX);
    for (uint32_t j = 0; j < chunk->count; j++) {
      CHECK(chunk->members[j] == row.objects[index++]);
      CHECK(fwd_target_of(chunk->members[j])->chunk == chunk);
    }
  }
  CHECK(index == row.count);
}

static void end_list(int list) {
  if (!lists[list]) return;
  int index = 0;
  for (size_t i = 0; i < lists[list]->count; i++)
    for (uint32_t j = 0; j < lists[list]->chunks[i]->count; j++)
      CHECK(lists[list]->chunks[i]->members[j] == rows[list].objects[index++]);
  CHECK(index == rows[list].count);
  fwd_targets_retire(&place, lists[list]);
  lists[list] = NULL;
}

static void insert(Object *object, int index) {
  if (object->is_in) return;
  size_t position = members.count;
  int rest = 0;
  if (index < row.count) {
    position = 0;
    for (rest = index; rest >= (int)fwd_members_chunk(&members, position)->count; position++)
      rest -= fwd_members_chunk(&members, position)->count;
  }
  object->is_in = 1;
  fwd_members_insert(&members, position, (size_t)rest, swift_retain(object));
  memmove(row.objects + index + 1, row.objects + index, (row.count++ - index) * sizeof object);
  row.objects[index] = object;
}

static void take_out(int index) {
  Object *object = row.objects[index];
  fwd_members_remove(&members, object);
  object->is_in = 0;
  swift_release(object);
  memmove(row.objects + index, row.objects + index + 1, (--row.count - index) * sizeof object);
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
  for (seed = 1; seed <= Seeds; seed++) {
    srand(seed);
    for (int step = 0; step < Steps; step++) {
      int choice = rand() % 100, index = rand() % (row.count + 1);
      if (choice < (step < Steps / 2 ? 55 : 40)) {
        insert(&objects[rand() % Objects], rand() % 3 ? row.count : index);
      } else if (choice < 97) {
        if (row.count) take_out(index % row.count);
      } else {
        int list = rand() % Lists;
        end_list(list);
        lists[list] = fwd_members_list(&members, (uint64_t)step);
        rows[list] = row;
      }
      if (step % 50 == 0) check_members();
    }
    check_members();
    for (int list = 0; list < Lists; list++) end_list(list);
    for (; row.count > 0; row.count--) {
      CHECK(row.objects[row.count - 1]->references == 1);
      row.objects[row.count - 1]->is_in = 0;
    }
    fwd_members_destroy(&members);
    for (int i = 0; i < Objects; i++) CHECK(objects[i].references == 0);
  }
  printf("Members: %d random histories.\n", Seeds);
  return 0;
}
