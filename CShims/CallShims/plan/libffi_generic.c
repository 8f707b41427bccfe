// SPDX-License-Identifier: Apache-2.0
/// Describes calls to libffi on platforms where it must know the types: all except x86-64.
///
/// Each value is in its frame in one piece, as in memory, whichever engine the frame is made for.
#include "fwd_place_internal.h"

#if !FWD_ABI_SYSV

static ffi_type *scalar_type(FWDKind kind) {
  switch (kind) {
    case FWDKindNothing: return &ffi_type_void;
    case FWDKindInt8: return &ffi_type_sint8;
    case FWDKindUInt8:
    case FWDKindBool: return &ffi_type_uint8;
    case FWDKindInt16: return &ffi_type_sint16;
    case FWDKindUInt16: return &ffi_type_uint16;
    case FWDKindInt32: return &ffi_type_sint32;
    case FWDKindUInt32: return &ffi_type_uint32;
    case FWDKindInt64: return &ffi_type_sint64;
    case FWDKindUInt64: return &ffi_type_uint64;
    case FWDKindFloat: return &ffi_type_float;
    case FWDKindDouble: return &ffi_type_double;
    case FWDKindLongDouble: return &ffi_type_longdouble;
    case FWDKindComplexFloat: return &ffi_type_complex_float;
    case FWDKindComplexDouble: return &ffi_type_complex_double;
    case FWDKindComplexLongDouble: return &ffi_type_complex_longdouble;
    case FWDKindCString:
    case FWDKindObject:
    case FWDKindBlock:
    case FWDKindClassReference:
    case FWDKindSelector:
    case FWDKindPointer:
    case FWDKindFunctionPointer:
    case FWDKindSwiftValue: return &ffi_type_pointer;
    case FWDKindInt128:
    case FWDKindUInt128:
    case FWDKindAggregate: return NULL;
  }
  return NULL;
}

/// Describes an aggregate by its members if all are of one floating-point type, otherwise as words
/// of its size.
static ffi_type *aggregate_type(FWDPlan *plan, const FWDSlot *slot) {
  ffi_type **elements = plan->elements;
  plan->elements += 5;
  ffi_type *part = slot->component_count ? scalar_type(slot->component) : &ffi_type_uint64;
  uint32_t count = slot->component_count ? slot->component_count : 1;
  for (uint32_t i = 0; i < count; i++) elements[i] = part;
  elements[count] = NULL;
  ffi_type *type = &plan->composites[plan->composite_count++];
  *type = (ffi_type){slot->size, slot->alignment, FFI_TYPE_STRUCT, elements};
  return type;
}

static ffi_type *type_of(FWDPlan *plan, const FWDSlot *slot) {
  ffi_type *scalar = scalar_type(slot->kind);
  return scalar ? scalar : aggregate_type(plan, slot);
}

static void add_argument(FWDPlan *plan, const FWDSlot *slot) {
  uint32_t size = slot->size < 8 ? 8 : slot->size;
  FWDPart *part = &plan->parts[plan->part_count++];
  *part = (FWDPart){&ffi_type_pointer, slot->offset, size, fwd_slot_is_copied(slot)};
  if (!fwd_part_is_address(part)) part->type = type_of(plan, slot);
}

/// Adds a word that the callee ignores, for a register that must be skipped: libffi does not know
/// that a value with an alignment of 16 begins at an even register. Delete this when every libffi
/// in use does.
static void fill_gap(FWDPlan *plan, const FWDSlot *slot, FWDCursor *cursor) {
#if FWD_PASSES_BY_AAPCS64
  uint32_t taken = cursor->integers;
  FWDPlace place = {.route = FWDRouteNowhere};
  // A value that cannot be placed was refused before.
  fwd_rules_aapcs64.place_argument(slot, cursor, &place);
  FWDRegister first = place.registers[0];
  if (place.route == FWDRouteRegisters && first.bank == FWDBankIntegers && first.number > taken)
    plan->parts[plan->part_count++] =
        (FWDPart){&ffi_type_uint64, (uint32_t)offsetof(FWDFrame, integers) + 8 * taken, 8, 0};
#else
  (void)plan, (void)slot, (void)cursor;
#endif
}

FWDStatus fwd_prepare_libffi(FWDPlan *plan, size_t fixed_count) {
  FWDPlanFacts *facts = &plan->facts;
  FWDCursor cursor = {0, 0, 0, 0};
  uint32_t fixed_parts = 0;
  for (uint32_t i = 0; i < facts->argument_count; i++) {
    const FWDSlot *slot = &plan->slots[i];
    if (slot->route == FWDRouteNowhere) continue;
    fill_gap(plan, slot, &cursor);
    add_argument(plan, slot);
    if (i < fixed_count) fixed_parts = plan->part_count;
  }
  plan->libffi_result = facts->result.offset;
  ffi_type *result =
      facts->result.size ? type_of(plan, &facts->result) : &ffi_type_void;
  return fwd_finish_cif(plan, result, fixed_parts, fixed_count <= facts->argument_count);
}

#endif
