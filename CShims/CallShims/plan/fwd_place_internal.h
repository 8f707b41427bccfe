#pragma once

#include "fwd_plan_internal.h"

/// Registers and bytes of the stack that are taken so far.
typedef struct FWDCursor {
  uint32_t integers;
  uint32_t vectors;
  uint32_t stack;
  /// What the copies take whose addresses travel: a call has them on its stack as well.
  uint32_t copied;
} FWDCursor;

/// The rules of one machine. Each finds the place of a value that is described, but not placed: of the
/// result first, and then of one argument after the other. They know no frame, and are built on every
/// machine.
typedef struct FWDRules {
  FWDStatus (*place_result)(const FWDSlot *result, FWDCursor *cursor, FWDPlace *place);
  FWDStatus (*place_argument)(const FWDSlot *slot, FWDCursor *cursor, FWDPlace *place);
} FWDRules;

extern const FWDRules fwd_rules_sysv;
extern const FWDRules fwd_rules_aapcs64;

/// Puts a value on the stack, at a multiple of its alignment, of 8 at least.
static inline FWDStatus fwd_place_on_stack(uint32_t size, uint32_t alignment, FWDCursor *cursor,
                                           FWDPlace *place) {
  place->route = FWDRouteStack;
  place->stack_offset = fwd_round_up(cursor->stack, alignment < 8 ? 8 : alignment);
  place->stack_size = fwd_round_up(size, 8);
  cursor->stack = place->stack_offset + place->stack_size;
  return cursor->stack + cursor->copied > FWD_STACK_WORDS_MAX * 8 ? FWDStatusTooLarge : FWDStatusOk;
}

static inline void fwd_place_take(FWDPlace *place, FWDBank bank, uint32_t number) {
  place->registers[place->register_count++] = (FWDRegister){bank, (uint8_t)number};
}
