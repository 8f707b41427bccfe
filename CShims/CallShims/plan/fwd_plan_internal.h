#pragma once

#include <ffi.h>

#include "CForwardingShims.h"

/// What libffi is told about one of its arguments: a type, and where in the frame it lies.
/// A value split over two registers is two of them.
typedef struct FWDPart {
  ffi_type *type;
  uint32_t offset;
  uint32_t size;
  /// Whether libffi is given a copy of the value for each call: the callee may write into what it gets.
  uint8_t is_copied;
} FWDPart;

/// Whether libffi is told the address of a copy instead of the value. On AArch64 it would make that of a
/// value by itself, and reserves no room for the addresses that do not go to registers: from the ninth on
/// they lie over what its call goes on with. Delete this when every libffi in use reserves it.
static inline int fwd_part_is_address(const FWDPart *part) {
  return FWD_PASSES_BY_AAPCS64 && part->is_copied;
}

/// What a direct call does first with a value whose registers do not hold it as memory does, so that it
/// has a home in the frame behind the stack words. A callback does the same in the other direction.
typedef struct FWDMoved {
  /// Where the value lies in the frame, and where the call loads it or its address from.
  uint32_t home;
  uint32_t place;
  uint32_t size;
  /// How many bytes go to each register; 0 for a value that is copied as a whole, for its address to be
  /// passed.
  uint8_t part;
  uint8_t count;
  /// How far the registers' places in the frame are from each other.
  uint8_t stride;
} FWDMoved;

struct FWDPlan {
  FWDPlanFacts facts;
  ffi_cif cif;
  /// How many keep the plan: its maker, and callbacks.
  uint32_t keepers;
  uint32_t part_count;
  /// Where in a frame libffi writes its result; at least 8 bytes, as it widens small ones.
  uint32_t libffi_result;
  /// Room for composite types; they are only written while the plan is made.
  uint32_t composite_count;
  /// What is passed as the address of a copy takes so much of the stack, in bytes.
  uint32_t copied_bytes;
  /// Which values a direct call moves first, and the call that it is then; NULL if there are none.
  uint32_t moved_count;
  FWDMoved *moved;
  FWDCaller unmoved_caller;
  /// Where in a frame whole vector registers lie, 16 bytes for each; 0 in a frame that has none.
  uint32_t wide_offset;
  /// The next plan whose `cif` libffi's closures use. Such a plan is never freed.
  FWDPlan *next_lasting;
  /// All of these point into the one allocation that begins with the plan.
  FWDPart *parts;
  ffi_type **types;
  ffi_type *composites;
  /// The lists of elements that composites have, five pointers for each: at most four, and NULL.
  ffi_type **elements;
  FWDSlot slots[];
};

/// Keeps a plan from being freed until one more `fwd_plan_destroy`.
void fwd_plan_keep(FWDPlan *plan);

/// Says whether a plan can be made of values at all, as far as their sizes go; `out_index` is the one
/// to blame.
FWDStatus fwd_values_check(const FWDValue *values, size_t argument_count, size_t *out_index);

/// Returns what is known of a value before it has a place. `is_promoted` is for arguments that a
/// variadic function gets behind its `...`.
FWDSlot fwd_slot_describe(const FWDValue *value, int is_promoted);

/// Places every value of `plan` in its frames; the slots hold sizes, kinds and classes so far.
FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index);

/// Tells libffi about the values that were placed.
FWDStatus fwd_prepare_libffi(FWDPlan *plan, size_t fixed_count);

/// Hands the parts of `plan` to libffi; `fixed_parts` of them stand before a variadic function's
/// `...`.
FWDStatus fwd_finish_cif(FWDPlan *plan, ffi_type *result, uint32_t fixed_parts, int is_variadic);

/// Touches each page of the next `size` bytes of stack, in the order in which they come: what is
/// allocated below must not step over a guard.
void fwd_touch_stack(size_t size);

/// The function that calls with what `shape` says.
FWDCaller fwd_direct_caller(uint8_t shape);

/// Whether a value travels as the address of a copy, on machines with registers for nothing larger than
/// two words. libffi passed the caller's own value there (its issue 694: on AArch64 before 3.4.3, and longer
/// on RISC-V), so it is given a copy. Delete that when every libffi in use copies.
static inline uint8_t fwd_slot_is_copied(const FWDSlot *slot) {
  return slot->size > 16 && slot->component_count == 0;
}

static inline uint32_t fwd_round_up(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
