// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "CForwardingShims.h"

/// A value that is passed as the address of a copy. It lies behind the stack words of the frame, and
/// each call gets its own copy, which the callee may change.
typedef struct FWDCopied {
  FWDSlot *slot;
  /// The offsets in the frame of the value, and of its address.
  uint32_t value, address;
  uint32_t size;
} FWDCopied;

struct FWDPlan {
  FWDPlanFacts facts;
  /// The number of references: one of the creator, and one of each callback.
  uint32_t keepers;
  /// The number of arguments in front of the `...`; `UINT32_MAX` if there is none.
  uint32_t fixed_count;
  /// The bytes of stack for copies that are passed by address.
  uint32_t copied_bytes;
  /// The values that are passed by address, on AArch64 alone.
  uint32_t copied_count;
  FWDCopied *copied;
  /// Whether all that a call loads before it jumps is in integer registers.
  uint8_t loads_integers;
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

/// Returns the registers of a result, as `FWD_RETURN_NOTHING` and so on.
uint8_t fwd_registers_of(const FWDSlot *result);

static inline uint32_t fwd_round_up(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
