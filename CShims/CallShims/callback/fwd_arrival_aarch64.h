// SPDX-License-Identifier: Apache-2.0
// Converts calls from trampolines to frames on AArch64, and returns their results. For
// `trampoline.c`.
#pragma once

#include "fwd_callback_internal.h"
#include "../call/fwd_layout.h"

/// The data that `fwd_trampoline_entry` saves.
typedef struct Arrival {
  FWDFrame frame;
  /// Whole vector registers; the frame has the low half of each.
  uint64_t wide[8][2];
  /// The address where the caller wants a result in memory.
  void *indirect;
  uint64_t reserved;
} Arrival;

_Static_assert(offsetof(Arrival, wide) == FWD_LAYOUT_WIDE, "the entry stores them there");
_Static_assert(offsetof(Arrival, indirect) == FWD_LAYOUT_INDIRECT, "the entry stores it there");
_Static_assert(sizeof(Arrival) == FWD_LAYOUT_ARRIVAL, "the entry takes as much of the stack");

/// How `fwd_trampoline_entry` returns the result; see there.
enum { AS_WORDS = FWD_AS_WORDS, AS_FLOATS = FWD_AS_FLOATS, AS_QUADS = FWD_AS_QUADS };

static uint8_t how_to_return(const FWDSlot *slot) {
  if (slot->route != FWDRouteRegisters || slot->component_count == 0) return AS_WORDS;
  if (slot->size == 16u * slot->component_count) return AS_QUADS;
  return slot->size == 4u * slot->component_count ? AS_FLOATS : AS_WORDS;
}

/// Does nothing: the entry unpacks the result.
static inline int place_result(int how, uint64_t *result) {
  (void)result;
  return how;
}

/// Moves values whose layout in registers differs from that in memory to their homes. A value that
/// was passed by address is a copy that the caller made for this call; the frame gets its own copy.
static inline void gather(const FWDPlan *plan, FWDFrame *frame, const FWDFrame *registers) {
  char *memory = (char *)frame;
  if (plan->wide_offset)
    memcpy(memory + plan->wide_offset, ((const Arrival *)registers)->wide, sizeof((Arrival){0}.wide));
  for (const FWDMoved *moved = plan->moved; moved < plan->moved + plan->moved_count; moved++) {
    char *home = memory + moved->home;
    const char *place = memory + moved->place;
    if (moved->part == 0) {
      const void *copy;
      memcpy(&copy, place, sizeof copy);
      memcpy(home, copy, moved->size);
      continue;
    }
    for (uint32_t i = 0; i < moved->count; i++)
      memcpy(home + i * moved->part, place + i * moved->stride, moved->part);
  }
}

static inline void *result_address(const FWDFrame *registers) {
  return ((const Arrival *)registers)->indirect;
}
