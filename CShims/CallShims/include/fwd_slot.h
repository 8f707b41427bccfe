// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string.h>

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

// Getting and setting values in a frame. A value is read and written by its size, without a case
// for each type, and register slots as whole words.

// A value in one piece moves in chunks of 16 bytes, because calls copy it to the stack in such
// chunks, and callees read and write them. The compiler would move a structure's members in other
// groups, but a load that needs the bytes of two stores stalls for longer than the call takes.
// Volatile prevents that.
typedef uint64_t FWDChunk
    __attribute__((__vector_size__(16), __aligned__(8), __may_alias__));
typedef uint64_t FWDChunkWord __attribute__((__may_alias__));

_Static_assert(sizeof(FWDChunk) == 16, "a chunk is one store, as wide as the load that follows");

/// Writes `size` bytes of a value into a frame, whose places are aligned to 8. The caller has
/// checked that the place is in one piece. Bytes behind the value stay unchanged.
__attribute__((always_inline)) static inline void fwd_chunks_store(void *frame, const void *value,
                                                                   size_t size) {
  char *to = frame;
  const char *from = value;
  for (; size >= 16; size -= 16, to += 16, from += 16) {
    FWDChunk chunk;
    memcpy(&chunk, from, 16);
    *(volatile FWDChunk *)to = chunk;
  }
  if (size >= 8) {
    FWDChunkWord word;
    memcpy(&word, from, 8);
    *(volatile FWDChunkWord *)to = word;
    size -= 8, to += 8, from += 8;
  }
  memcpy(to, from, size);
}

/// Reads `size` bytes of a value from a frame. The caller has checked that the place is in one
/// piece; `value` has room for them.
__attribute__((always_inline)) static inline void fwd_chunks_load(void *value, const void *frame,
                                                                  size_t size) {
  char *to = value;
  const char *from = frame;
  for (; size >= 16; size -= 16, to += 16, from += 16) {
    FWDChunk chunk = *(const volatile FWDChunk *)from;
    memcpy(to, &chunk, 16);
  }
  if (size >= 8) {
    FWDChunkWord word = *(const volatile FWDChunkWord *)from;
    memcpy(to, &word, 8);
    size -= 8, to += 8, from += 8;
  }
  memcpy(to, from, size);
}

/// Moves a value between memory and the vector registers that have a member each. The bytes of a
/// member are its register's lowest.
static inline void fwd_spread_store(const FWDSlot *slot, char *at, const char *bytes, size_t size) {
  for (size_t done = 0; done < size; done += slot->head, at += FWD_FRAME_VECTOR) {
    uint64_t word = 0;
    memcpy(&word, bytes + done, size - done < slot->head ? size - done : slot->head);
    memcpy(at, &word, 8);
  }
}
static inline void fwd_spread_load(const FWDSlot *slot, const char *at, char *bytes, size_t size) {
  for (size_t done = 0; done < size; done += slot->head, at += FWD_FRAME_VECTOR)
    memcpy(bytes + done, at, size - done < slot->head ? size - done : slot->head);
}

/// Writes `size` bytes of a value, at most as many as its place has. Words of registers and of the
/// stack are written as a whole, with 0 beyond the value. Only in memory, and for more than 8
/// bytes, the bytes beyond `size` stay unchanged. `frame` is a frame of the slot's plan.
static inline void fwd_slot_store(const FWDSlot *slot, void *frame, const void *bytes,
                                  size_t size) {
  char *at = (char *)frame + slot->offset;
  uint64_t word = 0;
  if (fwd_slot_is_spread(slot)) return fwd_spread_store(slot, at, bytes, size);
  if (size > 8 && slot->head > 8) {
    memcpy(at, bytes, size);
    return;
  }
  if (slot->size == 0) return;
  memcpy(&word, bytes, size < 8 ? size : 8);
  memcpy(at, &word, 8);
  if (slot->second_offset == FWD_NOT_SPLIT) return;
  word = 0;
  if (size > 8) memcpy(&word, (const char *)bytes + 8, size - 8);
  memcpy((char *)frame + slot->second_offset, &word, 8);
}

/// Reads `size` bytes of a value, at most as many as its place has. Padding that is not stored
/// reads as 0. `bytes` has room for them.
static inline void fwd_slot_load(const FWDSlot *slot, const void *frame, void *bytes,
                                 size_t size) {
  const char *at = (const char *)frame + slot->offset;
  if (size <= slot->head) {
    memcpy(bytes, at, size);
    return;
  }
  if (fwd_slot_is_spread(slot)) return fwd_spread_load(slot, at, bytes, size);
  char *rest = (char *)bytes + slot->head;
  memcpy(bytes, at, slot->head);
  if (slot->second_offset != FWD_NOT_SPLIT)
    memcpy(rest, (const char *)frame + slot->second_offset, size - slot->head);
  else
    memset(rest, 0, size - slot->head);
}

/// Writes all bytes of a value, as many as the slot's size. Small signed integers are
/// sign-extended, because callees compiled by clang rely on it.
static inline void fwd_slot_store_raw(const FWDSlot *slot, void *frame, const void *bytes) {
  fwd_slot_store(slot, frame, bytes, slot->size);
  if (slot->kind != FWDKindInt8 && slot->kind != FWDKindInt16 && slot->kind != FWDKindInt32) return;
  int unused = 64 - 8 * (int)slot->size;
  uint64_t word;
  memcpy(&word, (char *)frame + slot->offset, sizeof word);
  word = (uint64_t)((int64_t)(word << unused) >> unused);
  memcpy((char *)frame + slot->offset, &word, sizeof word);
}

/// Sets a result to zero, in all words of its place, which are never spread. A value that it owned
/// is not released: the caller has done that, or knows that it owned none.
static inline void fwd_slot_clear(const FWDSlot *slot, void *frame) {
  memset((char *)frame + slot->offset, 0, (slot->head + 7) & ~(size_t)7);
  if (slot->second_offset != FWD_NOT_SPLIT) memset((char *)frame + slot->second_offset, 0, 8);
}

/// Copies a value from a frame to its place in a frame of another plan, which has the same type.
static inline void fwd_slot_move(const FWDSlot *from, const void *source, const FWDSlot *to,
                                 void *target) {
  if (from->head == from->size && to->head == to->size) {
    // Whole words, so that the bytes behind a small value come with it.
    for (uint32_t i = 0; i < from->size; i += 8)
      memcpy((char *)target + to->offset + i, (const char *)source + from->offset + i, 8);
    return;
  }
  char bytes[32];
  fwd_slot_load(from, source, bytes, from->size);
  fwd_slot_store(to, target, bytes, from->size);
}

#pragma clang assume_nonnull end
