// SPDX-License-Identifier: Apache-2.0
/// The layout of x86-64 frames.
#include "fwd_place_internal.h"

#if FWD_ABI_SYSV

_Static_assert(sizeof((FWDFrame){0}.integers) == 8 * 6, "a word for each register of integers");
_Static_assert(sizeof((FWDFrame){0}.vectors) == 8 * 8, "a word for each vector register");

static uint32_t offset_of(FWDRegister where) {
  return where.bank == FWDBankIntegers
             ? (uint32_t)offsetof(FWDFrame, integers) + 8 * where.number
             : (uint32_t)offsetof(FWDFrame, vectors) + 8 * where.number;
}

static void lay_argument(FWDSlot *slot, const FWDPlace *place) {
  slot->route = place->route;
  if (place->route == FWDRouteNowhere) {
    slot->offset = FWD_FRAME_RESULT;
    return;
  }
  if (place->route == FWDRouteStack) {
    slot->offset = FWD_FRAME_STACK + place->stack_offset;
  } else {
    slot->offset = offset_of(place->registers[0]);
    if (place->register_count > 1) slot->second_offset = offset_of(place->registers[1]);
  }
  fwd_slot_cut(slot);
}

uint8_t fwd_registers_of(const FWDSlot *result) {
  int is_integer_first = result->first == FWDClassInteger;
  if (result->route == FWDRouteNowhere || result->route == FWDRouteHiddenPointer)
    return FWD_RETURN_NOTHING;
  if (result->first == FWDClassX87) return FWD_RETURN_X87;
  if (result->first == FWDClassComplexX87) return FWD_RETURN_COMPLEX_X87;
  if (result->second == FWDClassNone || result->second == result->first)
    return is_integer_first ? FWD_RETURN_INTEGERS : FWD_RETURN_VECTORS;
  return is_integer_first ? FWD_RETURN_INTEGER_VECTOR : FWD_RETURN_VECTOR_INTEGER;
}

FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index) {
  FWDPlanFacts *facts = &plan->facts;
  FWDSlot *result = &facts->result;
  FWDCursor cursor = {0, 0, 0, 0};
  *out_index = 0;
  FWDPlace place = {.route = FWDRouteNowhere};
  FWDStatus status = fwd_rules_sysv.place_result(result, &cursor, &place);
  result->route = place.route;
  result->offset = FWD_FRAME_RESULT;
  fwd_slot_cut(result);
  for (uint32_t i = 0; i < facts->argument_count && status == FWDStatusOk; i++) {
    *out_index = i + 1;
    place = (FWDPlace){.route = FWDRouteNowhere};
    status = fwd_rules_sysv.place_argument(&plan->slots[i], &cursor, &place);
    lay_argument(&plan->slots[i], &place);
  }
  if (status != FWDStatusOk) return status;

  // A variadic function is told that vector registers may be in use, too.
  facts->loads_integers =
      cursor.vectors == 0 && cursor.stack == 0 && plan->fixed_count == UINT32_MAX;
  facts->stack_words = cursor.stack / 8;
  uint32_t end = FWD_FRAME_STACK + facts->stack_words * 8;
  if (result->route == FWDRouteHiddenPointer) {
    result->offset = fwd_round_up(end, 16);
    end = result->offset + result->size;
  }
  facts->frame_size = fwd_round_up(end, 16);
  return FWDStatusOk;
}

#endif
