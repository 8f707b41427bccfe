// SPDX-License-Identifier: Apache-2.0
/// Where arguments and results are passed under the procedure call standard of AArch64.
///
/// The rules are those of AAPCS64, section 6.8.2; the comments cite their letters. Variadic
/// arguments are passed like all others, after promotion: this is Linux, not Apple.
#include "fwd_place_internal.h"

enum { INTEGER_REGISTERS = 8, VECTOR_REGISTERS = 8, RESULT_ADDRESS = 8 };

/// The number of vector registers of a value: one for each member, if all are of one floating-point
/// type and there are at most four.
static uint32_t vectors_of(const FWDSlot *slot) { return slot->component_count; }

static int is_composite(const FWDSlot *slot) { return slot->kind == FWDKindAggregate; }

static void take(FWDPlace *place, FWDBank bank, uint32_t first, uint32_t count) {
  place->route = FWDRouteRegisters;
  for (uint32_t i = 0; i < count; i++) fwd_place_take(place, bank, first + i);
}

static FWDStatus place_result(const FWDSlot *result, FWDCursor *cursor, FWDPlace *place) {
  // The register with the address of a result is not an argument register.
  (void)cursor;
  if (result->size == 0) {
    place->route = FWDRouteNowhere;
  } else if (vectors_of(result) > 0) {
    take(place, FWDBankVectors, 0, vectors_of(result));
  } else if (result->size <= 16) {
    take(place, FWDBankIntegerResults, 0, (result->size + 7) / 8);
  } else {
    place->route = FWDRouteHiddenPointer;
    fwd_place_take(place, FWDBankIntegers, RESULT_ADDRESS);
  }
  return FWDStatusOk;
}

/// C.1 to C.6: floating-point numbers, and composites of one floating-point type.
static FWDStatus place_vectors(const FWDSlot *slot, FWDCursor *cursor, FWDPlace *place) {
  uint32_t count = vectors_of(slot);
  if (cursor->vectors + count <= VECTOR_REGISTERS) {
    take(place, FWDBankVectors, cursor->vectors, count);
    cursor->vectors += count;
    return FWDStatusOk;
  }
  // No later value gets a vector register, even if it is smaller.
  cursor->vectors = VECTOR_REGISTERS;
  return fwd_place_on_stack(slot->size, slot->alignment, cursor, place);
}

/// C.7 to C.15: all other values.
static FWDStatus place_integers(uint32_t size, uint32_t alignment, FWDCursor *cursor,
                                FWDPlace *place) {
  uint32_t count = (size + 7) / 8;
  if (alignment == 16) cursor->integers = fwd_round_up(cursor->integers, 2);
  if (cursor->integers + count <= INTEGER_REGISTERS) {
    take(place, FWDBankIntegers, cursor->integers, count);
    cursor->integers += count;
    return FWDStatusOk;
  }
  cursor->integers = INTEGER_REGISTERS;
  return fwd_place_on_stack(size, alignment, cursor, place);
}

static FWDStatus place_argument(const FWDSlot *slot, FWDCursor *cursor, FWDPlace *place) {
  if (slot->size == 0) {
    // C compilers agree on this. In C++ an empty structure has a size.
    place->route = FWDRouteNowhere;
    return FWDStatusOk;
  }
  if (vectors_of(slot) > 0) return place_vectors(slot, cursor, place);
  if (slot->size <= 16) return place_integers(slot->size, slot->alignment, cursor, place);
  // Only composites are that large.
  if (!is_composite(slot)) return FWDStatusUnsupportedValue;
  // B.4: the callee gets the address of a copy, which it owns.
  place->is_copied = 1;
  cursor->copied += fwd_round_up(slot->size, 16);
  FWDStatus status = place_integers(8, 8, cursor, place);
  return cursor->stack + cursor->copied > FWD_STACK_WORDS_MAX * 8 ? FWDStatusTooLarge : status;
}

const FWDRules fwd_rules_aapcs64 = {place_result, place_argument};
