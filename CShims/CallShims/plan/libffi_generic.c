/// Every platform without a direct engine: values lie one after the other in memory, and libffi
/// decides where they travel.
///
/// Written for AArch64, where it compiles; it has never run there.
#include "fwd_plan_internal.h"

#if !FWD_HAS_DIRECT_ENGINE

int fwd_has_direct_engine(void) { return 0; }

FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index) {
  FWDPlanFacts *facts = &plan->facts;
  uint32_t end = FWD_FRAME_STACK;
  for (uint32_t i = 0; i < facts->argument_count; i++) {
    FWDSlot *slot = &plan->slots[i];
    *out_index = i + 1;
    slot->route = slot->size ? FWDRouteStack : FWDRouteNowhere;
    end = fwd_round_up(end, slot->alignment < 8 ? 8 : slot->alignment);
    slot->offset = end;
    fwd_slot_cut(slot);
    end = fwd_round_up(end + slot->size, 8);
    if (end - FWD_FRAME_STACK > FWD_STACK_WORDS_MAX * 8) return FWDStatusTooLarge;
  }
  facts->stack_words = (end - FWD_FRAME_STACK) / 8;
  facts->result.route = facts->result.size ? FWDRouteStack : FWDRouteNowhere;
  facts->result.offset = FWD_FRAME_RESULT;
  fwd_slot_cut(&facts->result);
  if (facts->result.size > sizeof((FWDFrame){0}.result)) {
    facts->result.offset = fwd_round_up(end, 16);
    end = facts->result.offset + facts->result.size;
  }
  facts->frame_size = fwd_round_up(end, 16);
  return FWDStatusOk;
}

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

/// An aggregate by its parts where they are all of one floating type, else words of its size.
static ffi_type *aggregate_type(FWDPlan *plan, const FWDSlot *slot) {
  ffi_type **elements = plan->elements;
  plan->elements += 5;
  ffi_type *part = slot->component_count ? scalar_type(slot->component) : &ffi_type_uint64;
  uint32_t count = slot->component_count ? slot->component_count : 1;
  for (uint32_t i = 0; i < count; i++) elements[i] = part;
  elements[count] = NULL;
  ffi_type *type = &plan->composites[plan->composite_count++];
  *type = (ffi_type){slot->size, (unsigned short)slot->alignment, FFI_TYPE_STRUCT, elements};
  return type;
}

static ffi_type *type_of(FWDPlan *plan, const FWDSlot *slot) {
  ffi_type *scalar = scalar_type(slot->kind);
  return scalar ? scalar : aggregate_type(plan, slot);
}

FWDStatus fwd_prepare_libffi(FWDPlan *plan, size_t fixed_count) {
  FWDPlanFacts *facts = &plan->facts;
  uint32_t fixed_parts = 0;
  for (uint32_t i = 0; i < facts->argument_count; i++) {
    const FWDSlot *slot = &plan->slots[i];
    if (slot->route == FWDRouteNowhere) continue;
    uint32_t size = slot->size < 8 ? 8 : slot->size;
    plan->parts[plan->part_count] = (FWDPart){type_of(plan, slot), slot->offset, size};
    plan->part_count++;
    if (i < fixed_count) fixed_parts = plan->part_count;
  }
  plan->libffi_result = facts->result.offset;
  ffi_type *result =
      facts->result.size ? type_of(plan, &facts->result) : &ffi_type_void;
  return fwd_finish_cif(plan, result, fixed_parts, fixed_count < facts->argument_count);
}

#endif
