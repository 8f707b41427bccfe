// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "CForwardingShims.h"

/// A value whose layout in registers differs from that in memory. Its place in the frame (its home)
/// is behind the stack words, and a direct call first moves it from there. A callback does the
/// reverse.
typedef struct FWDMoved {
  /// The offset of the value in the frame, and the offset from which the call loads it or its
  /// address.
  uint32_t home;
  uint32_t place;
  uint32_t size;
  /// The number of bytes in each register; 0 for a value that is copied as a whole, and passed by
  /// address.
  uint8_t part;
  uint8_t count;
  /// The distance between the registers' places in the frame.
  uint8_t stride;
} FWDMoved;

struct FWDPlan {
  FWDPlanFacts facts;
  /// The number of references: one of the creator, and one of each callback.
  uint32_t keepers;
  /// The number of arguments in front of the `...`; `UINT32_MAX` if there is none.
  uint32_t fixed_count;
  /// The bytes of stack for copies that are passed by address.
  uint32_t copied_bytes;
  /// The values that a direct call moves first, and the function that it then calls; NULL without
  /// such values.
  uint32_t moved_count;
  FWDMoved *moved;
  FWDCaller unmoved_caller;
  /// The offset in a frame of whole vector registers, 16 bytes for each; 0 in a frame without them.
  uint32_t wide_offset;
  FWDSlot slots[];
};

/// Adds a reference to a plan, which one more `fwd_plan_destroy` releases.
void fwd_plan_keep(FWDPlan *plan);

/// Checks whether the sizes and alignments of values allow a plan; `out_index` is the value at
/// fault.
FWDStatus fwd_values_check(const FWDValue *values, size_t argument_count, size_t *out_index);

/// Describes a value that has no place yet. `is_promoted` is for arguments behind the `...` of a
/// variadic function.
FWDSlot fwd_slot_describe(const FWDValue *value, int is_promoted);

/// Places every value of `plan` in its frames. The slots have sizes, kinds and classes before.
FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index);

/// The bytes of stack that a call by libffi needs.
uint32_t fwd_libffi_stack(const FWDPlan *plan);

/// Touches each page of the next `size` bytes of stack, in descending order, so that a later
/// allocation does not skip a guard page.
void fwd_touch_stack(size_t size);

/// Returns the function that calls with a shape.
FWDCaller fwd_direct_caller(uint8_t shape);

static inline uint32_t fwd_round_up(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
