// SPDX-License-Identifier: Apache-2.0
#include "CForwardingShims.h"

/// Stores a string at an offset in a frame as a C string, in the next room if it is small. A missing
/// string takes no room.
__attribute__((always_inline)) static inline int lend(const void *_Nullable string,
                                                      FWDLentFrame *frame, uint32_t offset,
                                                      size_t *lent) {
  const char *bytes = NULL;
  if (string) {
    if (*lent == FWD_TEXTS_MAX) return 0;
    bytes = fwd_text_lend(string, &frame->rooms[*lent]);
    if (!bytes) return 0;
    *lent += 1;
  }
  memcpy((char *)frame + offset, &bytes, sizeof bytes);
  return 1;
}

int fwd_tuple_lend(const FWDMove *moves, size_t count, const void *tuple, FWDLentFrame *frame) {
  size_t lent = 0;
  for (size_t i = 0; i < count; i++) {
    const char *value = (const char *)tuple + moves[i].tuple;
    uint64_t bits;
    switch (moves[i].word) {
      case FWDKindUInt64: memcpy(&bits, value, sizeof bits); break;
      case FWDKindCString:
        // The second word of a missing string is zero.
        memcpy(&bits, value + 8, sizeof bits);
        if (!lend(bits ? value : NULL, frame, moves[i].frame, &lent)) return 0;
        continue;
      default: bits = fwd_word_widen(moves[i].word, value); break;
    }
    memcpy((char *)frame + moves[i].frame, &bits, sizeof bits);
  }
  return 1;
}

int fwd_call_lending(const void *function, const FWDMove *moves, size_t count, const void *tuple,
                     FWDTextRoom *rooms, uint64_t *result) {
  uint64_t words[FWD_ARRAY_MAX] = {0};
  for (size_t i = 0; i < count; i++) {
    const char *value = (const char *)tuple + moves[i].tuple;
    if (moves[i].word != FWDKindCString) {
      if (moves[i].word == FWDKindUInt64)
        memcpy(&words[i], value, sizeof words[i]);
      else
        words[i] = fwd_word_widen(moves[i].word, value);
      continue;
    }
    // The second word of a missing string is zero.
    uint64_t bits;
    memcpy(&bits, value + 8, sizeof bits);
    if (!bits) continue;
    const char *bytes = fwd_text_lend(value, &rooms[i]);
    if (!bytes) return 0;
    words[i] = (uint64_t)(uintptr_t)bytes;
  }
  *result = fwd_call_words(function, words, count);
  return 1;
}

int fwd_frame_lend(const FWDPlanFacts *facts, const FWDFrame *frame, FWDLentFrame *copy) {
  size_t lent = 0;
  memcpy(copy, frame, facts->frame_size);
  fwd_frame_bind_result(facts, &copy->frame);
  for (size_t i = 0; i < facts->argument_count; i++) {
    const FWDSlot *slot = &facts->slots[i];
    if (slot->kind != FWDKindSwiftValue) continue;
    uint64_t string;
    memcpy(&string, (const char *)frame + slot->offset, sizeof string);
    if (!lend((const void *)string, copy, slot->offset, &lent)) return 0;
  }
  return 1;
}
