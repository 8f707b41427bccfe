#pragma once

#include <ffi.h>

#include "CForwardingShims.h"

/// What libffi is told about one of its arguments: a type, and where in the frame it lies.
/// A value split over two registers is two of them.
typedef struct FWDPart {
  ffi_type *type;
  uint32_t offset;
  uint32_t size;
} FWDPart;

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

/// The function that calls with what `shape` says.
FWDCaller fwd_direct_caller(uint8_t shape);

static inline uint32_t fwd_round_up(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
