// SPDX-License-Identifier: Apache-2.0
/// Frames of platforms without a direct engine: values are stored one after the other, and libffi
/// decides where they are passed.
#include "fwd_plan_internal.h"

#if !FWD_HAS_DIRECT_ENGINE

int fwd_has_direct_engine(void) { return 0; }

FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index) {
  FWDPlanFacts *facts = &plan->facts;
  uint32_t end = FWD_FRAME_STACK;
  for (uint32_t i = 0; i < facts->argument_count; i++) {
    FWDSlot *slot = &plan->slots[i];
    *out_index = i + 1;
    slot->route = slot->size ? FWDRouteStack : FWDRouteNowhere;
    end = fwd_round_up(end, slot->alignment < 8 ? 8 : slot->alignment);
    slot->offset = end;
    fwd_slot_cut(slot);
    if (fwd_slot_is_copied(slot)) plan->copied_bytes += fwd_round_up(slot->size, 16);
    end = fwd_round_up(end + slot->size, 8);
    if (end - FWD_FRAME_STACK > FWD_STACK_WORDS_MAX * 8) return FWDStatusTooLarge;
  }
  facts->stack_words = (end - FWD_FRAME_STACK) / 8;
  facts->result.route = facts->result.size ? FWDRouteStack : FWDRouteNowhere;
  facts->result.offset = FWD_FRAME_RESULT;
  fwd_slot_cut(&facts->result);
  if (facts->result.size > sizeof((FWDFrame){0}.result)) {
    facts->result.offset = fwd_round_up(end, 16);
    end = facts->result.offset + facts->result.size;
  }
  facts->frame_size = fwd_round_up(end, 16);
  return FWDStatusOk;
}

#endif
