#pragma once

#include <string.h>

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

// Getting and setting values in a frame. A slot is read and written by its size, never by a
// ladder of types, and register slots as whole words.

// A value in one piece moves in chunks of 16 bytes, as calls copy it to the stack and callees read and
// write it. The compiler would like to move a structure's members in other groups; but a load that
// needs bytes of two stores waits for longer than the call takes. Volatile, so that it may not.
typedef uint64_t FWDChunk
    __attribute__((__vector_size__(16), __aligned__(8), __may_alias__));
typedef uint64_t FWDChunkWord __attribute__((__may_alias__));

_Static_assert(sizeof(FWDChunk) == 16, "a chunk is one store, as wide as the load that follows");

/// Writes `size` bytes of a value into a frame, whose places are aligned to 8. The caller has found that
/// the place takes them in one piece. What is behind them stays as it is.
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

/// Reads `size` bytes of a value from a frame. The caller has found that the place has them in one
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

/// Writes `size` bytes of a value, which are no more than its place has. Words of registers and stack
/// are written as a whole, with 0 beyond the value; only of a value of more than 8 bytes in memory,
/// what is beyond `size` stays as it is. `frame` is one of the slot's plan.
static inline void fwd_slot_store(const FWDSlot *slot, void *frame, const void *bytes,
                                  size_t size) {
  char *at = (char *)frame + slot->offset;
  uint64_t word = 0;
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

/// Reads `size` bytes of a value, which are no more than its place has; padding that lies nowhere reads
/// as 0. `bytes` has room for them.
static inline void fwd_slot_load(const FWDSlot *slot, const void *frame, void *bytes,
                                 size_t size) {
  const char *at = (const char *)frame + slot->offset;
  if (size <= slot->head) {
    memcpy(bytes, at, size);
    return;
  }
  char *rest = (char *)bytes + slot->head;
  memcpy(bytes, at, slot->head);
  if (slot->second_offset != FWD_NOT_SPLIT)
    memcpy(rest, (const char *)frame + slot->second_offset, size - slot->head);
  else
    memset(rest, 0, size - slot->head);
}

/// Writes all bytes of a value that is not known to be widened: small integers are extended by
/// their sign, because callees compiled by clang rely on it. `bytes` has as many as the slot says.
static inline void fwd_slot_store_raw(const FWDSlot *slot, void *frame, const void *bytes) {
  int64_t word;
  switch (slot->kind) {
    case FWDKindInt8: word = *(const int8_t *)bytes; break;
    case FWDKindInt16: {
      int16_t value;
      memcpy(&value, bytes, sizeof value);
      word = value;
      break;
    }
    case FWDKindInt32: {
      int32_t value;
      memcpy(&value, bytes, sizeof value);
      word = value;
      break;
    }
    default: fwd_slot_store(slot, frame, bytes, slot->size); return;
  }
  memcpy((char *)frame + slot->offset, &word, sizeof word);
}

/// Sets a value to zero, in all words that it lies in. What it owned is not let go of: the caller has
/// done that, or knows that it owned nothing.
static inline void fwd_slot_clear(const FWDSlot *slot, void *frame) {
  memset((char *)frame + slot->offset, 0, (slot->head + 7) & ~(size_t)7);
  if (slot->second_offset != FWD_NOT_SPLIT) memset((char *)frame + slot->second_offset, 0, 8);
}

#pragma clang assume_nonnull end
