// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "CForwardingShims.h"

// The members of a list, in order, in an array of chunks: a change affects one chunk, whatever the
// number of members. A chunk that is part of a list is copied before it is changed.

enum {
  /// A chunk with fewer members is joined with its neighbor.
  Few = FWD_CHUNK_MAX / 4,
  /// The capacity of the first chunk.
  FirstRoom = 2,
};

// Records that a thread delivers from a place, before it reads the place for the first time. As
// long as only one thread has delivered, withdrawing a list need not involve others. One thread
// creates and destroys most proxies, and a barrier on all threads takes longer than all the rest of
// that.
void fwd_place_note_other_reader(FWDListPlace *place, const FWDThread *thread) {
  uintptr_t reader = __atomic_load_n(&place->reader, __ATOMIC_ACQUIRE);
  if (reader == FWD_MANY_READERS) return;
  if (reader != 0 || !__atomic_compare_exchange_n(&place->reader, &reader, (uintptr_t)thread, 0,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    __atomic_store_n(&place->reader, FWD_MANY_READERS, __ATOMIC_SEQ_CST);
  // Orders the store before the read of the place, as the exchange of the list is ordered before
  // the read of the reader.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void *allocate(size_t size) {
  void *memory = malloc(size);
  if (!memory) abort();
  return memory;
}

static FWDTargetChunk *make_chunk(uint32_t room, uint32_t position) {
  FWDTargetChunk *chunk = allocate(sizeof *chunk + room * sizeof *chunk->members);
  *chunk = (FWDTargetChunk){
      .holders = 1, .room = room, .position = position, .new_from = UINT32_MAX};
  return chunk;
}

static void hold_chunk(FWDTargetChunk *chunk) {
  __atomic_fetch_add(&chunk->holders, 1, __ATOMIC_RELAXED);
}

static void let_go_of_chunk(FWDTargetChunk *chunk) {
  if (__atomic_sub_fetch(&chunk->holders, 1, __ATOMIC_ACQ_REL) > 0) return;
  for (uint32_t i = 0; i < chunk->count; i++) swift_release((void *)chunk->members[i]);
  free(chunk);
}

// No other thread can start to share a chunk that only its owner has.
static int is_shared(const FWDTargetChunk *chunk) {
  return __atomic_load_n(&chunk->holders, __ATOMIC_ACQUIRE) > 1;
}

static FWDTargetChunk **chunks_of(FWDMembers *members) {
  return members->room ? members->chunks.several : &members->chunks.only;
}

static void note_new(FWDTargetChunk *chunk, uint32_t index) {
  if (index < chunk->new_from) chunk->new_from = index;
}

/// Moves members from one chunk to the end of another; only the owner has either chunk.
static void move(FWDTargetChunk *from, uint32_t index, FWDTargetChunk *to) {
  if (from->new_from < from->count) {
    uint32_t known = from->new_from > index ? from->new_from - index : 0;
    note_new(to, to->count + known);
  }
  while (index < from->count) {
    const void *member = from->members[index++];
    fwd_target_of(member)->chunk = to;
    to->members[to->count++] = member;
  }
}

/// Returns the chunk or a copy of it, unshared and with room for `needed` members.
static FWDTargetChunk *own(FWDMembers *members, FWDTargetChunk *chunk, uint32_t needed) {
  int shared = is_shared(chunk);
  if (!shared && needed <= chunk->room) return chunk;
  uint32_t room = chunk->room;
  while (room < needed) room *= 2;
  FWDTargetChunk *mine = make_chunk(room, chunk->position);
  if (shared)
    for (uint32_t i = 0; i < chunk->count; i++) swift_retain((void *)chunk->members[i]);
  move(chunk, 0, mine);
  chunks_of(members)[mine->position] = mine;
  // Lists may be released meanwhile: the copy then has the last references to the members.
  if (shared) let_go_of_chunk(chunk);
  else free(chunk);
  return mine;
}

static void number(FWDMembers *members, uint32_t from) {
  for (uint32_t i = from; i < members->count; i++) fwd_members_chunk(members, i)->position = i;
}

static void insert_chunk(FWDMembers *members, uint32_t position, FWDTargetChunk *chunk) {
  // A single chunk needs no array.
  if (members->count > 0 && members->count >= members->room) {
    uint32_t room = 2 * members->count;
    FWDTargetChunk **several = allocate(room * sizeof *several);
    memcpy(several, chunks_of(members), members->count * sizeof *several);
    if (members->room) free(members->chunks.several);
    members->chunks.several = several;
    members->room = room;
  }
  FWDTargetChunk **place = chunks_of(members) + position;
  memmove(place + 1, place, (members->count - position) * sizeof *place);
  *place = chunk;
  members->count++;
  number(members, position);
}

static void remove_chunk(FWDMembers *members, uint32_t position) {
  FWDTargetChunk **place = chunks_of(members) + position;
  free(*place);
  members->count--;
  memmove(place, place + 1, (members->count - position) * sizeof *place);
  number(members, position);
}

void fwd_members_insert(FWDMembers *members, size_t position, size_t index, const void *member) {
  // The last chunk is filled before another one is appended.
  if (position == members->count && position > 0 &&
      fwd_members_chunk(members, position - 1)->count < FWD_CHUNK_MAX) {
    position--;
    index = fwd_members_chunk(members, position)->count;
  }
  if (position == members->count)
    insert_chunk(members, (uint32_t)position,
                 make_chunk(position ? FWD_CHUNK_MAX : FirstRoom, (uint32_t)position));
  FWDTargetChunk *chunk = fwd_members_chunk(members, position);
  if (chunk->count == FWD_CHUNK_MAX) {
    chunk = own(members, chunk, chunk->count);
    FWDTargetChunk *rear = make_chunk(FWD_CHUNK_MAX, 0);
    uint32_t half = FWD_CHUNK_MAX / 2;
    move(chunk, half, rear);
    chunk->count = half;
    insert_chunk(members, (uint32_t)position + 1, rear);
    if (index > half) {
      index -= half;
      chunk = rear;
    }
  }
  chunk = own(members, chunk, chunk->count + 1);
  const void **place = chunk->members + index;
  memmove(place + 1, place, (chunk->count - index) * sizeof *place);
  *place = member;
  chunk->count++;
  note_new(chunk, (uint32_t)index);
  fwd_target_of(member)->chunk = chunk;
}

/// Joins a chunk that has few members with the one behind it, if the result leaves some room.
static void join(FWDMembers *members, FWDTargetChunk *chunk) {
  uint32_t position = chunk->position;
  if (position + 1 == members->count) {
    if (position == 0) return;
    chunk = fwd_members_chunk(members, --position);
  }
  FWDTargetChunk *rear = fwd_members_chunk(members, position + 1);
  if (chunk->count + rear->count > FWD_CHUNK_MAX - Few) return;
  rear = own(members, rear, rear->count);
  chunk = own(members, chunk, chunk->count + rear->count);
  move(rear, 0, chunk);
  remove_chunk(members, position + 1);
}

void fwd_members_remove(FWDMembers *members, const void *member) {
  FWDTargetChunk *chunk = fwd_target_of(member)->chunk;
  chunk = own(members, chunk, chunk->count);
  const void **place = chunk->members;
  while (*place != member) place++;
  if (place < chunk->members + chunk->new_from && chunk->new_from <= chunk->count) chunk->new_from--;
  chunk->count--;
  memmove(place, place + 1, (size_t)(chunk->members + chunk->count - place) * sizeof *place);
  fwd_target_of(member)->chunk = NULL;
  if (chunk->count == 0) remove_chunk(members, chunk->position);
  else if (chunk->count < Few) join(members, chunk);
}

FWDTargetList *fwd_members_list(const FWDMembers *members, uint64_t newest) {
  FWDTargetList *list = malloc(sizeof *list + members->count * sizeof *list->chunks);
  if (!list) abort();
  list->count = members->count;
  list->keepers = 1;
  list->newest = newest;
  for (uint32_t i = 0; i < members->count; i++) {
    list->chunks[i] = fwd_members_chunk(members, i);
    hold_chunk(list->chunks[i]);
  }
  return list;
}

void fwd_members_destroy(FWDMembers *members) {
  for (uint32_t i = 0; i < members->count; i++) let_go_of_chunk(fwd_members_chunk(members, i));
  if (members->room) free(members->chunks.several);
  *members = (FWDMembers){0};
}

static void dispose(FWDRetirable *retirable) {
  FWDTargetList *list = (FWDTargetList *)retirable;
  if (__atomic_sub_fetch(&list->keepers, 1, __ATOMIC_ACQ_REL) > 0) return;
  for (size_t i = 0; i < list->count; i++) let_go_of_chunk(list->chunks[i]);
  free(list);
}

const FWDTargetList *fwd_list_keep(FWDListPlace *place) {
  FWDThread *thread = fwd_thread();
  if (!thread) return NULL;
  fwd_place_note_reader(place, thread);
  FWDHold *hold = thread->top;
  // No other code runs during this hold, so it may take the last slot.
  fwd_has_room(thread, hold);
  thread->top = hold + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  FWDTargetList *list = (FWDTargetList *)fwd_hold_in(thread, hold, &place->list);
  if (list) __atomic_fetch_add(&list->keepers, 1, __ATOMIC_RELAXED);
  fwd_let_go_from(thread, hold);
  return list;
}

void fwd_list_let_go(const FWDTargetList *list) { dispose((FWDRetirable *)&list->retirable); }

static int is_held(const FWDThread *thread, const FWDTargetList *list) {
  for (uint32_t i = 0; i < thread->high; i++)
    if (thread->holds[i].thing == (const void *)list) return 1;
  return 0;
}

void fwd_targets_retire(FWDListPlace *place, FWDTargetList *list) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uintptr_t reader = __atomic_load_n(&place->reader, __ATOMIC_SEQ_CST);
  FWDThread *thread = fwd_thread();
  int is_mine = thread && (reader == 0 || reader == (uintptr_t)thread);
  if (is_mine && !is_held(thread, list)) return dispose(&list->retirable);
  fwd_retire(&list->retirable, dispose);
}
