// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string.h>

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

// Copying between a Swift tuple and a frame. For a tuple of known types the compiler emits a few
// stores, where it would iterate over a parameter pack at run time; from the tuple, words are
// copied by a list of moves.

/// The address of values of size 0. It is aligned for every value that a frame may hold.
#define FWD_NO_MEMORY 16

typedef struct FWDMove {
  /// The offset of the word in the frame, and that of the value in the tuple.
  uint32_t frame;
  uint16_t tuple;
  /// How the memory of the value becomes the word. An integer or a Boolean is widened by its kind;
  /// all words of 8 bytes have the kind of a `uint64_t`. The others are only stored: the kind of a
  /// Swift value is that of the address of the memory, for values borrowed for the duration of a
  /// call; that of a C string is the same for a Swift string or an optional one, of which nil, whose
  /// second word is zero, has no address; and nothing is `FWD_NO_MEMORY`, which is neither an
  /// address nor zero. Swift has no address for a value of size 0, and passes any number instead,
  /// even zero, which would mean a missing value.
  FWDKind word;
} FWDMove;

/// Widens the memory of a value to a word, by its sign or with zeros, and narrows a word to that
/// memory. `value` has the alignment of its type. Any byte except 0 becomes true.
static inline uint64_t fwd_word_widen(FWDKind word, const char *value) {
  uint64_t bits;
  // The most common kind comes first, as the switch is a jump through a table.
  if (__builtin_expect(word != FWDKindUInt64, 0)) {
    switch (word) {
      case FWDKindSwiftValue: return (uint64_t)value;
      case FWDKindCString: return ((const uint64_t *)value)[1] ? (uint64_t)value : 0;
      case FWDKindNothing: return FWD_NO_MEMORY;
      case FWDKindInt8: return (uint64_t)(int64_t)*(const int8_t *)value;
      case FWDKindUInt8:
      case FWDKindBool: return *(const uint8_t *)value;
      case FWDKindInt16: return (uint64_t)(int64_t)*(const int16_t *)value;
      case FWDKindUInt16: return *(const uint16_t *)value;
      case FWDKindInt32: return (uint64_t)(int64_t)*(const int32_t *)value;
      case FWDKindUInt32: return *(const uint32_t *)value;
      default: break;
    }
  }
  memcpy(&bits, value, sizeof bits);
  return bits;
}

static inline void fwd_word_narrow(FWDKind word, uint64_t bits, char *value) {
  switch (word) {
    case FWDKindInt8:
    case FWDKindUInt8: memcpy(value, &bits, 1); return;
    // Any byte except 0 is true: C code that passes 2 for a `_Bool` must not create an invalid
    // Swift Bool.
    case FWDKindBool: *value = (uint8_t)bits != 0; return;
    case FWDKindInt16:
    case FWDKindUInt16: memcpy(value, &bits, 2); return;
    case FWDKindInt32:
    case FWDKindUInt32: memcpy(value, &bits, 4); return;
    default: memcpy(value, &bits, 8); return;
  }
}

/// Writes the values of a tuple into a frame, widened to words. The caller has compared the types
/// of the tuple with the plan of the frame; `moves` has `count` elements. Nothing is retained.
void fwd_tuple_store(const FWDMove *moves, size_t count, const void *tuple, void *frame);

/// Writes at least one value of a tuple into a frame, if all values are whole words, with a few
/// instructions for each. The caller has checked that all moves are of that kind.
static inline void fwd_tuple_store_whole(const FWDMove *moves, size_t count, const void *tuple,
                                         void *frame) {
  const FWDMove *end = moves + count;
  do {
    memcpy((char *)frame + moves->frame, (const char *)tuple + moves->tuple, 8);
  } while (++moves != end);
}

/// Reads values from a frame into a tuple, narrowed to their types. Each place in the tuple that
/// `moves` names is written with the width of its type.
static inline void fwd_tuple_load(const FWDMove *moves, size_t count, void *tuple,
                                  const void *frame) {
  for (size_t i = 0; i < count; i++) {
    char *to = (char *)tuple + moves[i].tuple;
    uint64_t bits;
    memcpy(&bits, (const char *)frame + moves[i].frame, 8);
    if (moves[i].word == FWDKindUInt64)
      memcpy(to, &bits, 8);
    else
      fwd_word_narrow(moves[i].word, bits, to);
  }
}

// MARK: Without a frame

// A tuple of `double` only, or of integer words only, is an array in C, and its function is called
// like any C function: the frame for such a call would take longer than many C functions.

/// The most arguments of such a call.
#define FWD_ARRAY_MAX 4

/// Calls a function that takes up to `FWD_ARRAY_MAX` arguments of type `double`, which are in `a`,
/// and returns a `double`. The caller guarantees its type.
__attribute__((always_inline, no_sanitize("function"))) static inline double fwd_call_doubles(
    const void *function, const double *a, size_t count) {
  switch (count) {
    case 0: return ((double (*)(void))function)();
    case 1: return ((double (*)(double))function)(a[0]);
    case 2: return ((double (*)(double, double))function)(a[0], a[1]);
    case 3: return ((double (*)(double, double, double))function)(a[0], a[1], a[2]);
    default:
      return ((double (*)(double, double, double, double))function)(a[0], a[1], a[2], a[3]);
  }
}

/// Calls a function that takes up to `FWD_ARRAY_MAX` integers or addresses of a word, which are in
/// `a`, and returns nothing, or an integer or an address of any width, in the low bytes of the
/// word. The caller guarantees its type.
__attribute__((always_inline, no_sanitize("function"))) static inline uint64_t fwd_call_words(
    const void *function, const uint64_t *a, size_t count) {
  switch (count) {
    case 0: return ((uint64_t(*)(void))function)();
    case 1: return ((uint64_t(*)(uint64_t))function)(a[0]);
    case 2: return ((uint64_t(*)(uint64_t, uint64_t))function)(a[0], a[1]);
    case 3: return ((uint64_t(*)(uint64_t, uint64_t, uint64_t))function)(a[0], a[1], a[2]);
    default:
      return ((uint64_t(*)(uint64_t, uint64_t, uint64_t, uint64_t))function)(a[0], a[1], a[2],
                                                                            a[3]);
  }
}

#pragma clang assume_nonnull end
