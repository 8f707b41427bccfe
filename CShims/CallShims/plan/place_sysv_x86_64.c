// SPDX-License-Identifier: Apache-2.0
/// Where arguments and results are passed under the System V ABI of x86-64.
///
/// The rules are those of the psABI, section 3.2.3. Swift code has classified the types; this file
/// only assigns registers and stack words.
#include "fwd_place_internal.h"

enum { INTEGER_REGISTERS = 6, VECTOR_REGISTERS = 8 };

static int in_registers(FWDClass c) { return c == FWDClassInteger || c == FWDClassVector; }

static void take_argument(FWDPlace *place, FWDCursor *cursor, FWDClass class) {
  if (class == FWDClassInteger) fwd_place_take(place, FWDBankIntegers, cursor->integers++);
  if (class == FWDClassVector) fwd_place_take(place, FWDBankVectors, cursor->vectors++);
}

static void take_result(FWDPlace *place, FWDClass class, int is_second_of_kind) {
  if (class == FWDClassInteger) fwd_place_take(place, FWDBankIntegerResults, is_second_of_kind);
  if (class == FWDClassVector) fwd_place_take(place, FWDBankVectors, is_second_of_kind);
}

static FWDStatus place_result(const FWDSlot *result, FWDCursor *cursor, FWDPlace *place) {
  if (result->size == 0) {
    place->route = FWDRouteNowhere;
  } else if (result->first == FWDClassMemory) {
    // The pointer to the result is passed in front of all arguments.
    place->route = FWDRouteHiddenPointer;
    fwd_place_take(place, FWDBankIntegers, cursor->integers++);
  } else if (result->first == FWDClassX87 || result->first == FWDClassComplexX87) {
    place->route = FWDRouteX87;
    fwd_place_take(place, FWDBankX87, 0);
    if (result->first == FWDClassComplexX87) fwd_place_take(place, FWDBankX87, 1);
  } else if (in_registers(result->first)) {
    place->route = FWDRouteRegisters;
    take_result(place, result->first, 0);
    take_result(place, result->second, result->second == result->first);
  } else {
    return FWDStatusUnsupportedValue;
  }
  return FWDStatusOk;
}

static FWDStatus place_argument(const FWDSlot *slot, FWDCursor *cursor, FWDPlace *place) {
  if (slot->size == 0) {
    place->route = FWDRouteNowhere;
    return FWDStatusOk;
  }
  if (slot->first == FWDClassNone) return FWDStatusUnsupportedValue;
  uint32_t integers = (slot->first == FWDClassInteger) + (slot->second == FWDClassInteger);
  uint32_t vectors = (slot->first == FWDClassVector) + (slot->second == FWDClassVector);
  // A value is passed in registers as a whole or not at all.
  if (in_registers(slot->first) && cursor->integers + integers <= INTEGER_REGISTERS &&
      cursor->vectors + vectors <= VECTOR_REGISTERS) {
    place->route = FWDRouteRegisters;
    take_argument(place, cursor, slot->first);
    take_argument(place, cursor, slot->second);
    return FWDStatusOk;
  }
  return fwd_place_on_stack(slot->size, slot->alignment, cursor, place);
}

const FWDRules fwd_rules_sysv = {place_result, place_argument};
