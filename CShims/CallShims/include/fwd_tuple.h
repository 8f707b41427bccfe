#pragma once

#include <string.h>

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

// Between a Swift tuple and a frame. The compiler lays a tuple of known types out in a few stores,
// where it would walk over a parameter pack at run time; from there, words move by a list.

/// How the memory of a value becomes a word.
typedef enum __attribute__((enum_extensibility(closed))) FWDWord : uint8_t {
  FWDWordWhole = 0,
  FWDWordInt8,
  FWDWordUInt8,
  FWDWordInt16,
  FWDWordUInt16,
  FWDWordInt32,
  FWDWordUInt32,
  FWDWordBool,
  /// The word is the address of the memory; for values that are lent for the time of a call. Only stored.
  FWDWordAddress,
  /// The same for a Swift string, or an optional one: no address for nil, whose second word is zero.
  FWDWordText,
  /// The word is no address, and not zero: `FWD_NO_MEMORY`, for a lent value that takes no memory. Swift has no address
  /// for one, and passes any number in its place, zero as well, which would be a missing value. Only stored.
  FWDWordNowhere,
} FWDWord;

/// Where values lie that take no memory. Aligned for every value that a frame may hold.
#define FWD_NO_MEMORY 16

typedef struct FWDMove {
  /// Where the word is in the frame, and the value in the tuple.
  uint32_t frame;
  uint16_t tuple;
  FWDWord word;
} FWDMove;

/// Widens the memory of a value to a word, by its sign or with zeros, and narrows a word to that
/// memory. `value` is aligned as its type asks. Any byte but 0 becomes true.
uint64_t fwd_word_widen(FWDWord word, const char *value);
void fwd_word_narrow(FWDWord word, uint64_t bits, char *value);

/// Writes values of a tuple into a frame, widened to words. The caller has compared the types of the
/// tuple with the plan of the frame; both are as long as `moves` says. Nothing is retained.
void fwd_tuple_store(const FWDMove *moves, size_t count, const void *tuple, void *frame);

/// The same for one value or more that are whole words, which takes a few instructions for each. The caller
/// has looked that no move of them says anything else.
static inline void fwd_tuple_store_whole(const FWDMove *moves, size_t count, const void *tuple,
                                         void *frame) {
  const FWDMove *end = moves + count;
  do {
    memcpy((char *)frame + moves->frame, (const char *)tuple + moves->tuple, 8);
  } while (++moves != end);
}

/// Writes values that lie anywhere into a frame, widened to words: `values` has the address of each, as
/// long as `moves` says, and the caller has compared their types. Nothing is retained.
static inline void fwd_lent_store(const FWDMove *moves, size_t count,
                                  const void *_Nonnull const *_Nonnull values,
                                  void *frame) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    if (moves[i].word == FWDWordWhole)
      memcpy(&bits, values[i], 8);
    else if (moves[i].word == FWDWordAddress)
      bits = (uint64_t)values[i];
    else if (moves[i].word == FWDWordNowhere)
      bits = FWD_NO_MEMORY;  // Not even the address may be looked at.
    else
      bits = fwd_word_widen(moves[i].word, values[i]);
    memcpy((char *)frame + moves[i].frame, &bits, 8);
  }
}

/// Reads values from a frame into a tuple, in the same way. Every place of the tuple that `moves` names
/// is written, as far as its type is wide.
static inline void fwd_tuple_load(const FWDMove *moves, size_t count, void *tuple,
                                  const void *frame) {
  for (size_t i = 0; i < count; i++) {
    char *to = (char *)tuple + moves[i].tuple;
    uint64_t bits;
    memcpy(&bits, (const char *)frame + moves[i].frame, 8);
    if (moves[i].word == FWDWordWhole)
      memcpy(to, &bits, 8);
    else
      fwd_word_narrow(moves[i].word, bits, to);
  }
}

// MARK: Without a frame

// A tuple of nothing but `double`, or of nothing but words of integers, is an array of C, and its function
// is called as C would: the frame of such a call takes longer than many a function of C.

/// How many arguments such a call has at most.
#define FWD_ARRAY_MAX 4

/// Calls a function that takes up to `FWD_ARRAY_MAX` arguments of `double`, which lie at `a`, and returns one.
/// The caller vouches for its type.
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

/// Calls a function that takes up to `FWD_ARRAY_MAX` integers or addresses of a word, which lie at `a`, and
/// returns an integer or an address of any width, in the low bytes of the word, or nothing. The caller
/// vouches for its type.
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
