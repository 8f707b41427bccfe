// SPDX-License-Identifier: Apache-2.0
/// The layout of AArch64 frames, and the calls that load values from them.
///
/// Each value is in one piece. Words and numbers are where registers are loaded from. So are
/// structures of words and of `double`, because registers are consecutive in a frame. Other values
/// have a home behind the stack words, and are moved for each call.
#include "fwd_place_internal.h"

#if FWD_ABI_AAPCS64

enum { WIDE_SIZE = 8 * 16 };

_Static_assert(sizeof((FWDFrame){0}.integers) == 8 * 8, "a word for each register of integers");
_Static_assert(sizeof((FWDFrame){0}.vectors) == 8 * 8, "a word for each vector register");
_Static_assert(sizeof((FWDFrame){0}.result) == 4 * 16, "four quads fill the result");

/// The state of laying out a frame: the offset and the distance of vector registers, and the end of
/// the homes so far.
typedef struct Layout {
  FWDPlan *plan;
  uint32_t vectors;
  uint32_t stride;
  uint32_t end;
} Layout;

static uint32_t part_size(const FWDSlot *slot) { return slot->size / slot->component_count; }

static uint32_t offset_of(const Layout *layout, FWDRegister where) {
  return where.bank == FWDBankVectors
             ? layout->vectors + layout->stride * where.number
             : (uint32_t)offsetof(FWDFrame, integers) + 8 * where.number;
}

/// Gives a value a home, and records how a call moves it from there; `part` as in `FWDMoved`.
static void lay_at_home(Layout *layout, FWDSlot *slot, uint32_t place, uint32_t part) {
  FWDPlan *plan = layout->plan;
  slot->offset = fwd_round_up(layout->end, 16);
  layout->end = slot->offset + fwd_round_up(slot->size, 8);
  plan->moved[plan->moved_count++] =
      (FWDMoved){.home = slot->offset,
                 .place = place,
                 .size = slot->size,
                 .part = (uint8_t)part,
                 .count = part ? slot->component_count : 0,
                 .stride = (uint8_t)layout->stride};
  if (part == 0) plan->copied_bytes += fwd_round_up(slot->size, 16);
}

static void lay_argument(Layout *layout, FWDSlot *slot, const FWDPlace *place) {
  slot->route = place->route;
  slot->head = slot->size;
  if (place->route == FWDRouteNowhere) {
    slot->offset = FWD_FRAME_RESULT;
    return;
  }
  uint32_t offset = place->route == FWDRouteStack ? FWD_FRAME_STACK + place->stack_offset
                                                  : offset_of(layout, place->registers[0]);
  int is_scattered = place->register_count > 1 && place->registers[0].bank == FWDBankVectors &&
                     part_size(slot) != layout->stride;
  if (place->is_copied)
    lay_at_home(layout, slot, offset, 0);
  else if (is_scattered)
    lay_at_home(layout, slot, offset, part_size(slot));
  else
    slot->offset = offset;
}

static void lay_result(Layout *layout, FWDSlot *result, const FWDPlace *place) {
  result->route = place->route;
  result->head = result->size;
  result->offset = FWD_FRAME_RESULT;
  if (place->route != FWDRouteHiddenPointer) return;
  result->offset = fwd_round_up(layout->end, 16);
  layout->end = result->offset + result->size;
}

static FWDReturnShape return_shape(const FWDSlot *result) {
  if (result->route == FWDRouteNowhere) return FWDReturnNothing;
  if (result->route == FWDRouteHiddenPointer) return FWDReturnIndirect;
  if (result->component_count == 0) return FWDReturnIntegers;
  if (part_size(result) == 16) return FWDReturnQuads;
  return part_size(result) == 4 && result->component_count > 1 ? FWDReturnFloats
                                                               : FWDReturnVectors;
}

static FWDArgumentShape argument_shape(const FWDCursor *cursor, int is_wide) {
  if (is_wide) return FWDArgumentsWide;
  if (cursor->stack) return FWDArgumentsStack;
  return cursor->vectors ? FWDArgumentsVectors : FWDArgumentsIntegers;
}

/// Computes the stack size of the arguments, and whether one of them is a quad in a register. The
/// offsets of vector registers and homes depend on both.
static FWDStatus measure(const FWDPlan *plan, FWDCursor *cursor, int *out_is_wide,
                         size_t *out_index) {
  for (uint32_t i = 0; i < plan->facts.argument_count; i++) {
    const FWDSlot *slot = &plan->slots[i];
    FWDPlace place = {.route = FWDRouteNowhere};
    *out_index = i + 1;
    FWDStatus status = fwd_rules_aapcs64.place_argument(slot, cursor, &place);
    if (status != FWDStatusOk) return status;
    int is_in_vectors = place.register_count && place.registers[0].bank == FWDBankVectors;
    if (is_in_vectors && part_size(slot) == 16) *out_is_wide = 1;
  }
  return FWDStatusOk;
}

static void lay_arguments(Layout *layout) {
  FWDPlan *plan = layout->plan;
  FWDCursor cursor = {0, 0, 0, 0};
  for (uint32_t i = 0; i < plan->facts.argument_count; i++) {
    FWDPlace place = {.route = FWDRouteNowhere};
    fwd_rules_aapcs64.place_argument(&plan->slots[i], &cursor, &place);
    lay_argument(layout, &plan->slots[i], &place);
  }
}

FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index) {
  FWDPlanFacts *facts = &plan->facts;
  FWDCursor cursor = {0, 0, 0, 0};
  FWDPlace place = {.route = FWDRouteNowhere};
  int is_wide = 0;
  *out_index = 0;
  FWDStatus status = fwd_rules_aapcs64.place_result(&facts->result, &cursor, &place);
  if (status == FWDStatusOk) status = measure(plan, &cursor, &is_wide, out_index);
  if (status != FWDStatusOk) return status;

  FWDArgumentShape shape = argument_shape(&cursor, is_wide);
  facts->stack_words = cursor.stack / 8;
  Layout layout = {plan, offsetof(FWDFrame, vectors), 8, FWD_FRAME_STACK + facts->stack_words * 8};
  if (is_wide) {
    plan->wide_offset = fwd_round_up(layout.end, 16);
    layout = (Layout){plan, plan->wide_offset, 16, plan->wide_offset + WIDE_SIZE};
  }
  lay_arguments(&layout);
  lay_result(&layout, &facts->result, &place);
  facts->frame_size = fwd_round_up(layout.end, 16);
  FWDReturnShape returns = return_shape(&facts->result);
  if (FWD_HAS_DIRECT_ENGINE) plan->unmoved_caller = fwd_direct_caller(fwd_shape(returns, shape));
  facts->shape = fwd_shape(returns, plan->moved_count ? FWDArgumentsMoved : shape);
  return FWDStatusOk;
}

#endif
