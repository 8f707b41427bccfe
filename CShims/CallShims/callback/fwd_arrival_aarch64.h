// SPDX-License-Identifier: Apache-2.0
// Converts calls from trampolines to frames on AArch64, and returns their results. For
// `trampoline.c`.
#pragma once

#include "fwd_callback_internal.h"
#include "../call/fwd_layout.h"

/// The data that `fwd_trampoline_entry` saves.
typedef struct Arrival {
  FWDFrame frame;
  /// The address where the caller wants a result in memory.
  void *indirect;
  uint64_t reserved;
} Arrival;

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

/// Copies the values that were passed by address into the frame.
static inline void gather(const FWDPlan *plan, FWDFrame *frame) {
  char *memory = (char *)frame;
  for (uint32_t i = 0; i < plan->copied_count; i++) {
    const void *value;
    memcpy(&value, memory + plan->copied[i].address, sizeof value);
    memcpy(memory + plan->copied[i].value, value, plan->copied[i].size);
  }
}

static inline void *result_address(const FWDFrame *registers) {
  return ((const Arrival *)registers)->indirect;
}
