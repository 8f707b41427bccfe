// SPDX-License-Identifier: Apache-2.0
// Converts calls from trampolines to frames on x86-64, and returns their results. For
// `trampoline.c`.
#pragma once

#include "fwd_callback_internal.h"
#include "../call/fwd_layout.h"

/// How `fwd_trampoline_entry` returns the result; see there. `AS_VECTOR_FIRST` is for C code only.
enum {
  AS_WORDS = FWD_AS_WORDS,
  AS_MIXED = FWD_AS_MIXED,
  AS_X87 = FWD_AS_X87,
  AS_COMPLEX_X87 = FWD_AS_COMPLEX_X87,
  AS_VECTOR_FIRST,
};

static uint8_t how_to_return(const FWDSlot *slot) {
  if (slot->route == FWDRouteX87)
    return slot->first == FWDClassComplexX87 ? AS_COMPLEX_X87 : AS_X87;
  if (slot->route != FWDRouteRegisters || slot->second == FWDClassNone ||
      slot->first == slot->second)
    return AS_WORDS;
  return slot->first == FWDClassInteger ? AS_MIXED : AS_VECTOR_FIRST;
}

/// Puts a result of two kinds where the entry reads it.
static inline int place_result(int how, uint64_t *result) {
  if (__builtin_expect(how == AS_WORDS, 1) || how == AS_X87 || how == AS_COMPLEX_X87) return how;
  int is_integer_first = how == AS_MIXED;
  result[2] = result[is_integer_first ? 0 : 1];
  result[3] = result[is_integer_first ? 1 : 0];
  return AS_MIXED;
}

/// Does nothing: each value is passed in the layout of the frame.
static inline void gather(const FWDPlan *plan, FWDFrame *frame) { (void)plan, (void)frame; }

/// The address where the caller wants a result in memory, which is returned too.
static inline void *result_address(const FWDFrame *registers) {
  return (void *)registers->integers[0];
}
