// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string.h>

#include "fwd_plan.h"
#include "fwd_tuple.h"

#pragma clang assume_nonnull begin

// Swift strings that are lent to C as C strings, without an allocation.
//
// A string is two words. If bit 61 of the second word is set, the string is small: its bytes are
// the first 15 of the 16, followed by zeros, and its length is in the last byte's low four bits.
// Otherwise the first word holds the length in its low 48 bits. Bit 60 of the first word is set if
// a NUL is behind the text; bit 60 of the second word is set if the text is not UTF-8 in memory. The
// text begins 32 bytes behind the address in the low 60 bits of the second word. Bit 62 of a small
// string is set if all its bytes are ASCII, and bit 63 always.
//
// The layout is that of the standard library's ABI. `LentText` compares the results of this file
// with those of `withCString` before its first use, and does not use this file if they differ.

/// The most strings that one call lends.
#define FWD_TEXTS_MAX 8

/// Room for the bytes of a small string and a NUL.
typedef struct FWDTextRoom {
  uint64_t words[2];
} FWDTextRoom;

/// Makes a small string of a C string. Returns whether the string is made: it has at most 15 bytes,
/// all of them ASCII. `string` then has the two words of a Swift `String`, which owns nothing.
static inline int fwd_text_copy(const char *bytes, FWDTextRoom *string) {
  size_t count = strnlen(bytes, 16);
  if (count == 16) return 0;
  uint64_t words[2] = {0, 0};
  if (count >= 8) {
    // The last eight bytes. Those that are in the first word, too, are shifted out.
    uint64_t last;
    memcpy(&words[0], bytes, 8);
    memcpy(&last, bytes + count - 8, 8);
    if (count > 8) words[1] = last >> (8 * (16 - count));
  } else {
    for (size_t i = 0; i < count; i++) words[0] |= (uint64_t)(uint8_t)bytes[i] << (8 * i);
  }
  if ((words[0] | words[1]) & 0x8080808080808080u) return 0;
  words[1] |= (uint64_t)(0xE0 | count) << 56;
  memcpy(string, words, sizeof words);
  return 1;
}

/// A frame on the stack whose texts are lent, with the rooms of small strings behind it.
typedef struct FWDLentFrame {
  FWDFrame frame;
  uint64_t stack[FWD_SCOPED_STACK_WORDS];
  FWDTextRoom rooms[FWD_TEXTS_MAX];
} FWDLentFrame;

_Static_assert(offsetof(FWDLentFrame, stack) == FWD_FRAME_STACK, "stack words follow the registers");

enum { FWD_LENT_FRAME_SIZE = offsetof(FWDLentFrame, rooms) };

/// Returns the index of the first byte that is zero in a word; 8 if no byte is. A byte above it
/// that is 1 may look like a zero, so only the lowest counts.
static inline unsigned fwd_first_zero(uint64_t word) {
  uint64_t zeros = (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
  return zeros ? (unsigned)__builtin_ctzll(zeros) / 8 : 8;
}

/// Returns a string as a C string: its copy in `room` if it is small, or its own bytes. Returns
/// NULL if a NUL is inside of the text, or not behind it, or if the text is not UTF-8 in memory.
///
/// `string` is the address of a Swift `String`, which the caller keeps alive and unchanged. The C
/// string is valid as long as the string and the room.
static inline const char *_Nullable fwd_text_lend(const void *string, FWDTextRoom *room) {
  uint64_t words[2];
  memcpy(words, string, sizeof words);
  if (__builtin_expect(words[1] >> 61 & 1, 1)) {
    unsigned count = words[1] >> 56 & 15;
    // The NUL replaces the byte with the length.
    words[1] &= 0x00FFFFFFFFFFFFFFu;
    memcpy(room, words, sizeof words);
    unsigned end = fwd_first_zero(words[0]);
    if (end == 8) end += fwd_first_zero(words[1]);
    return end == count ? (const char *)room : NULL;
  }
  if (!(words[0] >> 60 & 1) || (words[1] >> 60 & 1)) return NULL;
  const char *bytes = (const char *)(words[1] & 0x0FFFFFFFFFFFFFFFu) + 32;
  size_t count = words[0] & 0x0000FFFFFFFFFFFFu;
  return memchr(bytes, 0, count) || bytes[count] ? NULL : bytes;
}

/// Writes the values of a tuple into a frame like `fwd_tuple_store`, with strings as C strings; a
/// missing string, whose second word is zero, is NULL. Returns whether that is done. If not, a string
/// cannot be lent, or there are too many, and the frame is undefined.
///
/// The requirements are those of `fwd_tuple_store` and, for each string, of `fwd_text_lend`. The
/// function to be called has `char *` parameters where the moves have text.
int fwd_tuple_lend(const FWDMove *moves, size_t count, const void *tuple, FWDLentFrame *frame);

/// Calls a C function with the values of a tuple, strings as C strings, and without a frame. Returns
/// whether it was called, with what it returned in `result`; if not, a string cannot be lent.
///
/// The requirements are those of `fwd_tuple_lend` and of `fwd_call_words`. There are `count` rooms.
/// The result may point into a room or into a string, so it is read while both are there.
int fwd_call_lending(const void *function, const FWDMove *moves, size_t count, const void *tuple,
                     FWDTextRoom *rooms, uint64_t *result);

/// Copies a frame in which every Swift value is text, with C strings in the places of text, and
/// points the copy at its own room for a result in memory. Returns like `fwd_tuple_lend`.
///
/// A word of text is the address of a string, with the requirements of `fwd_text_lend`, or zero. The
/// frame has at most `FWD_LENT_FRAME_SIZE` bytes.
int fwd_frame_lend(const FWDPlanFacts *facts, const FWDFrame *frame, FWDLentFrame *copy);

#pragma clang assume_nonnull end
