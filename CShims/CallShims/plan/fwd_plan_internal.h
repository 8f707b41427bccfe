// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ffi.h>

#include "CForwardingShims.h"

/// The description of an argument for libffi: its type, and its place in the frame. A value that is
/// split over two registers is two such arguments.
typedef struct FWDPart {
  ffi_type *type;
  uint32_t offset;
  uint32_t size;
  /// Whether libffi is given a copy of the value for each call, because the callee may write into
  /// it.
  uint8_t is_copied;
} FWDPart;

/// Whether libffi is given the address of a copy instead of the value. On AArch64 libffi would make
/// such a copy itself, but it reserves no room for addresses that are not passed in registers: from
/// the ninth on they overlap memory that its call still needs. Delete this when every libffi in use
/// reserves the room.
static inline int fwd_part_is_address(const FWDPart *part) {
  return FWD_PASSES_BY_AAPCS64 && part->is_copied;
}

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
  ffi_cif cif;
  /// The number of references: one of the creator, and one of each callback.
  uint32_t keepers;
  uint32_t part_count;
  /// The offset in a frame where libffi writes its result; at least 8 bytes, because it widens
  /// small results.
  uint32_t libffi_result;
  /// The number of composite types, which are only written while the plan is created.
  uint32_t composite_count;
  /// The bytes of stack for copies that are passed by address.
  uint32_t copied_bytes;
  /// The values that a direct call moves first, and the function that it then calls; NULL without
  /// such values.
  uint32_t moved_count;
  FWDMoved *moved;
  FWDCaller unmoved_caller;
  /// The offset in a frame of whole vector registers, 16 bytes for each; 0 in a frame without them.
  uint32_t wide_offset;
  /// The next plan whose `cif` is used by closures of libffi. Such a plan is never freed.
  FWDPlan *next_lasting;
  /// All of these point into the plan's own allocation.
  FWDPart *parts;
  ffi_type **types;
  ffi_type *composites;
  /// The element lists of composites, five pointers for each: at most four elements, and NULL.
  ffi_type **elements;
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

/// Describes the placed values to libffi.
FWDStatus fwd_prepare_libffi(FWDPlan *plan, size_t fixed_count);

/// Prepares the cif of `plan` from its parts; `fixed_parts` of them precede the `...` of a variadic
/// function.
FWDStatus fwd_finish_cif(FWDPlan *plan, ffi_type *result, uint32_t fixed_parts, int is_variadic);

/// Touches each page of the next `size` bytes of stack, in descending order, so that a later
/// allocation does not skip a guard page.
void fwd_touch_stack(size_t size);

/// Returns the function that calls with a shape.
FWDCaller fwd_direct_caller(uint8_t shape);

/// Whether a value is passed as the address of a copy, on machines whose registers take at most two
/// words. libffi passed the caller's own value there (its issue 694: on AArch64 before 3.4.3, and
/// longer on RISC-V), so it is given a copy. Delete that when every libffi in use copies.
static inline uint8_t fwd_slot_is_copied(const FWDSlot *slot) {
  return slot->size > 16 && slot->component_count == 0;
}

static inline uint32_t fwd_round_up(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
