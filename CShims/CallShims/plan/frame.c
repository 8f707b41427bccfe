// SPDX-License-Identifier: Apache-2.0
/// The layout of frames: registers and stack words as a call loads them, and behind them the values
/// that are passed by address, and room for a result in memory.
#include "fwd_place_internal.h"

_Static_assert(sizeof((FWDFrame){0}.vectors) == 8 * FWD_FRAME_VECTOR, "there are eight of them");

static uint32_t offset_of(FWDRegister where) {
  return where.bank == FWDBankVectors
             ? (uint32_t)offsetof(FWDFrame, vectors) + FWD_FRAME_VECTOR * where.number
             : (uint32_t)offsetof(FWDFrame, integers) + 8 * where.number;
}

#if FWD_ABI_SYSV

static const FWDRules *const rules = &fwd_rules_sysv;
_Static_assert(sizeof((FWDFrame){0}.integers) == 8 * 6, "a word for each register of integers");

/// Sets how a value is cut into the pieces of its place.
static void cut(FWDPlan *plan, FWDSlot *slot, const FWDPlace *place) {
  (void)plan;
  if (place->register_count > 1) slot->second_offset = offset_of(place->registers[1]);
  // An eightbyte of padding alone takes no register.
  int is_register = slot->route == FWDRouteRegisters && slot->second == FWDClassNone;
  int is_cut = slot->size > 8 && (is_register || slot->second_offset != FWD_NOT_SPLIT);
  slot->head = is_cut ? 8 : slot->size;
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

#else

static const FWDRules *const rules = &fwd_rules_aapcs64;
_Static_assert(sizeof((FWDFrame){0}.integers) == 8 * 8, "a word for each register of integers");
_Static_assert(sizeof((FWDFrame){0}.result) == 4 * 16, "four quads fill the result");

static uint32_t part_size(const FWDSlot *slot) { return slot->size / slot->component_count; }

static void cut(FWDPlan *plan, FWDSlot *slot, const FWDPlace *place) {
  int is_in_vectors = place->register_count > 0 && place->registers[0].bank == FWDBankVectors;
  // Quads are next to each other in the registers, as in memory; smaller members are spread.
  slot->head = is_in_vectors && part_size(slot) < FWD_FRAME_VECTOR ? part_size(slot) : slot->size;
  if (!place->is_copied) return;
  plan->copied[plan->copied_count++] =
      (FWDCopied){.slot = slot, .address = slot->offset, .size = slot->size};
  plan->copied_bytes += fwd_round_up(slot->size, 16);
}

uint8_t fwd_registers_of(const FWDSlot *result) {
  if (result->route == FWDRouteNowhere || result->route == FWDRouteHiddenPointer)
    return FWD_RETURN_NOTHING;
  if (result->component_count == 0) return FWD_RETURN_INTEGERS;
  if (part_size(result) == 16) return FWD_RETURN_QUADS;
  return part_size(result) == 4 && result->component_count > 1 ? FWD_RETURN_FLOATS
                                                               : FWD_RETURN_VECTORS;
}

#endif

static void lay_argument(FWDPlan *plan, FWDSlot *slot, const FWDPlace *place) {
  slot->route = place->route;
  slot->offset = FWD_FRAME_RESULT;
  if (place->route == FWDRouteStack) slot->offset = FWD_FRAME_STACK + place->stack_offset;
  if (place->route == FWDRouteRegisters) slot->offset = offset_of(place->registers[0]);
  cut(plan, slot, place);
}

FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index) {
  FWDPlanFacts *facts = &plan->facts;
  FWDSlot *result = &facts->result;
  FWDCursor cursor = {0, 0, 0, 0};
  FWDPlace place = {.route = FWDRouteNowhere};
  *out_index = 0;
  FWDStatus status = rules->place_result(result, &cursor, &place);
  result->route = place.route;
  result->offset = FWD_FRAME_RESULT;
  // A result in registers is in one piece in the frame, but for padding.
  cut(plan, result, &(FWDPlace){.route = place.route});
  for (uint32_t i = 0; i < facts->argument_count && status == FWDStatusOk; i++) {
    *out_index = i + 1;
    place = (FWDPlace){.route = FWDRouteNowhere};
    status = rules->place_argument(&plan->slots[i], &cursor, &place);
    lay_argument(plan, &plan->slots[i], &place);
  }
  if (status != FWDStatusOk) return status;

  facts->stack_words = cursor.stack / 8;
  uint32_t end = FWD_FRAME_STACK + cursor.stack;
  for (uint32_t i = 0; i < plan->copied_count; i++) {
    FWDCopied *copied = &plan->copied[i];
    copied->slot->offset = copied->value = fwd_round_up(end, 16);
    end = copied->value + fwd_round_up(copied->size, 8);
  }
  int is_in_memory = result->route == FWDRouteHiddenPointer;
  if (is_in_memory) {
    result->offset = fwd_round_up(end, 16);
    end = result->offset + result->size;
  }
  facts->frame_size = fwd_round_up(end, 16);
  // A variadic function of x86-64 is told that vector registers may be in use, and AArch64 has a
  // register for the address of a result.
  int is_more = FWD_ABI_SYSV ? plan->fixed_count != UINT32_MAX : is_in_memory;
  plan->loads_integers =
      cursor.vectors == 0 && cursor.stack == 0 && plan->copied_count == 0 && !is_more;
  return FWDStatusOk;
}
