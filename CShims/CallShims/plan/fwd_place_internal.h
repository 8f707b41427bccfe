// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_plan_internal.h"

/// The registers and stack bytes assigned so far.
typedef struct FWDCursor {
  uint32_t integers;
  uint32_t vectors;
  uint32_t stack;
  /// The size of the copies that are passed by address, which a call has on its stack too.
  uint32_t copied;
} FWDCursor;

/// The rules of one machine. The functions find the place of a described value: first of the
/// result, then of each argument in order. They do not depend on frames, and are compiled on every
/// machine.
typedef struct FWDRules {
  FWDStatus (*place_result)(const FWDSlot *result, FWDCursor *cursor, FWDPlace *place);
  FWDStatus (*place_argument)(const FWDSlot *slot, FWDCursor *cursor, FWDPlace *place);
} FWDRules;

extern const FWDRules fwd_rules_sysv;
extern const FWDRules fwd_rules_aapcs64;

/// Places a value on the stack, at a multiple of its alignment, which is at least 8.
static inline FWDStatus fwd_place_on_stack(uint32_t size, uint32_t alignment, FWDCursor *cursor,
                                           FWDPlace *place) {
  place->route = FWDRouteStack;
  place->stack_offset = fwd_round_up(cursor->stack, alignment < 8 ? 8 : alignment);
  cursor->stack = place->stack_offset + fwd_round_up(size, 8);
  return cursor->stack + cursor->copied > FWD_STACK_WORDS_MAX * 8 ? FWDStatusTooLarge : FWDStatusOk;
}

static inline void fwd_place_take(FWDPlace *place, FWDBank bank, uint32_t number) {
  place->registers[place->register_count++] = (FWDRegister){bank, (uint8_t)number};
}
