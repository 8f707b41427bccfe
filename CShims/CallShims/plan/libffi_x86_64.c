// SPDX-License-Identifier: Apache-2.0
/// Describes calls to libffi on x86-64: one value for each register, one block for each stack
/// argument.
///
/// libffi supports neither unions nor bit-fields nor arrays, and classifies some structures
/// incorrectly (libffi issue 574: a structure whose integer half takes the last integer register
/// overwrites a vector argument). So it is never given a structure that is passed in registers. The
/// plan has placed every value, so each half is described as a word of its class, and libffi passes
/// it in the register that the ABI requires. Delete this when every libffi in use handles those
/// structures correctly.
#include "fwd_plan_internal.h"

#if FWD_ABI_SYSV

static ffi_type *word_type(FWDClass class) {
  return class == FWDClassInteger ? &ffi_type_uint64 : &ffi_type_double;
}

/// Creates a structure of a given size and alignment whose elements determine its class. The sizes
/// are set here, so that `ffi_prep_cif` does not write into a type that another plan could use.
static ffi_type *composite(FWDPlan *plan, uint32_t size, uint32_t alignment, ffi_type *first,
                           ffi_type *second) {
  ffi_type **elements = plan->elements;
  plan->elements += 3;
  elements[0] = first;
  elements[1] = second;
  elements[2] = NULL;
  ffi_type *type = &plan->composites[plan->composite_count++];
  *type = (ffi_type){size, (unsigned short)alignment, FFI_TYPE_STRUCT, elements};
  return type;
}

static void add_part(FWDPlan *plan, ffi_type *type, uint32_t offset, uint32_t size) {
  plan->parts[plan->part_count++] = (FWDPart){type, offset, size, 0};
}

/// Creates a block of stack words. A `long double` element makes libffi pass even a small block in
/// memory.
static ffi_type *stack_block(FWDPlan *plan, const FWDSlot *slot) {
  uint32_t size = fwd_round_up(slot->size, 8);
  uint32_t alignment = slot->alignment < 8 ? 8 : slot->alignment;
  ffi_type *element = size <= 16 ? &ffi_type_longdouble : &ffi_type_uint64;
  return composite(plan, size, alignment, element, NULL);
}

static void add_argument(FWDPlan *plan, const FWDSlot *slot) {
  switch (slot->route) {
    case FWDRouteRegisters:
      add_part(plan, word_type(slot->first), slot->offset, 8);
      if (slot->second_offset != FWD_NOT_SPLIT)
        add_part(plan, word_type(slot->second), slot->second_offset, 8);
      return;
    case FWDRouteStack:
      // A scalar for which no register was free is one word; libffi finds no free register either.
      if (slot->size <= 8 && slot->second == FWDClassNone && slot->first != FWDClassMemory)
        add_part(plan, word_type(slot->first), slot->offset, 8);
      else
        add_part(plan, stack_block(plan, slot), slot->offset, fwd_round_up(slot->size, 8));
      return;
    case FWDRouteNowhere:
    case FWDRouteHiddenPointer:
    case FWDRouteX87: return;
  }
}

static ffi_type *result_type(FWDPlan *plan) {
  const FWDSlot *result = &plan->facts.result;
  switch (result->route) {
    case FWDRouteNowhere:
    case FWDRouteStack: return &ffi_type_void;
    // The callee returns the hidden pointer in rax.
    case FWDRouteHiddenPointer: return &ffi_type_pointer;
    case FWDRouteX87:
      return result->first == FWDClassX87 ? &ffi_type_longdouble : &ffi_type_complex_longdouble;
    case FWDRouteRegisters:
      if (result->second == FWDClassNone) return word_type(result->first);
      return composite(plan, 16, 8, word_type(result->first), word_type(result->second));
  }
  return &ffi_type_void;
}

FWDStatus fwd_prepare_libffi(FWDPlan *plan, size_t fixed_count) {
  FWDPlanFacts *facts = &plan->facts;
  ffi_type *result = result_type(plan);
  // With a hidden pointer this is the pointer itself, not the result.
  plan->libffi_result = FWD_FRAME_RESULT;
  if (facts->result.route == FWDRouteHiddenPointer)
    add_part(plan, &ffi_type_pointer, offsetof(FWDFrame, integers), 8);
  uint32_t fixed_parts = plan->part_count;
  for (uint32_t i = 0; i < facts->argument_count; i++) {
    add_argument(plan, &plan->slots[i]);
    if (i < fixed_count) fixed_parts = plan->part_count;
  }
  return fwd_finish_cif(plan, result, fixed_parts, fixed_count <= facts->argument_count);
}

#endif
