// SPDX-License-Identifier: Apache-2.0
/// The layout of AArch64 frames: registers and stack words as a call loads them, and behind them the
/// values that are passed by address.
#include "fwd_place_internal.h"

#if FWD_ABI_AAPCS64

_Static_assert(sizeof((FWDFrame){0}.integers) == 8 * 8, "a word for each register of integers");
_Static_assert(sizeof((FWDFrame){0}.vectors) == 8 * 16, "two words for each vector register");
_Static_assert(sizeof((FWDFrame){0}.result) == 4 * 16, "four quads fill the result");

static uint32_t part_size(const FWDSlot *slot) { return slot->size / slot->component_count; }

static uint32_t offset_of(const FWDPlace *place) {
  FWDRegister where = place->registers[0];
  if (place->route == FWDRouteNowhere) return FWD_FRAME_RESULT;
  if (place->route == FWDRouteStack) return FWD_FRAME_STACK + place->stack_offset;
  return where.bank == FWDBankVectors
             ? (uint32_t)offsetof(FWDFrame, vectors) + FWD_FRAME_VECTOR * where.number
             : (uint32_t)offsetof(FWDFrame, integers) + 8 * where.number;
}

static void lay_argument(FWDPlan *plan, FWDSlot *slot, const FWDPlace *place) {
  int is_in_vectors = place->register_count > 0 && place->registers[0].bank == FWDBankVectors;
  slot->route = place->route;
  slot->offset = offset_of(place);
  // Quads are next to each other in the registers, as in memory; smaller members are spread.
  slot->head = is_in_vectors && part_size(slot) < FWD_FRAME_VECTOR ? part_size(slot) : slot->size;
  if (!place->is_copied) return;
  plan->copied[plan->copied_count++] = (FWDCopied){.address = slot->offset, .size = slot->size};
  plan->copied_bytes += fwd_round_up(slot->size, 16);
}

/// Finds room for the values that are passed by address, and returns the end of the last one.
static uint32_t lay_copied(FWDPlan *plan, uint32_t end) {
  FWDCopied *copied = plan->copied;
  for (uint32_t i = 0; i < plan->facts.argument_count; i++) {
    FWDSlot *slot = &plan->slots[i];
    if (slot->size <= 16 || slot->component_count) continue;
    slot->offset = copied++->value = fwd_round_up(end, 16);
    end = slot->offset + fwd_round_up(slot->size, 8);
  }
  return end;
}

uint8_t fwd_registers_of(const FWDSlot *result) {
  if (result->route == FWDRouteNowhere || result->route == FWDRouteHiddenPointer)
    return FWD_RETURN_NOTHING;
  if (result->component_count == 0) return FWD_RETURN_INTEGERS;
  if (part_size(result) == 16) return FWD_RETURN_QUADS;
  return part_size(result) == 4 && result->component_count > 1 ? FWD_RETURN_FLOATS
                                                               : FWD_RETURN_VECTORS;
}

FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index) {
  FWDPlanFacts *facts = &plan->facts;
  FWDSlot *result = &facts->result;
  FWDCursor cursor = {0, 0, 0, 0};
  FWDPlace place = {.route = FWDRouteNowhere};
  *out_index = 0;
  FWDStatus status = fwd_rules_aapcs64.place_result(result, &cursor, &place);
  result->route = place.route;
  result->head = result->size;
  result->offset = FWD_FRAME_RESULT;
  for (uint32_t i = 0; i < facts->argument_count && status == FWDStatusOk; i++) {
    *out_index = i + 1;
    place = (FWDPlace){.route = FWDRouteNowhere};
    status = fwd_rules_aapcs64.place_argument(&plan->slots[i], &cursor, &place);
    lay_argument(plan, &plan->slots[i], &place);
  }
  if (status != FWDStatusOk) return status;

  facts->stack_words = cursor.stack / 8;
  uint32_t end = lay_copied(plan, FWD_FRAME_STACK + facts->stack_words * 8);
  if (result->route == FWDRouteHiddenPointer) {
    result->offset = fwd_round_up(end, 16);
    end = result->offset + result->size;
  }
  facts->frame_size = fwd_round_up(end, 16);
  // The address of a result in memory is in a register of its own.
  facts->loads_integers = cursor.vectors == 0 && cursor.stack == 0 && plan->copied_count == 0 &&
                          result->route != FWDRouteHiddenPointer;
  return FWDStatusOk;
}

#endif
