// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "fwd_plan_internal.h"

/// Allocates a plan, its slots, and the data that libffi keeps pointers to, in one block: a cif
/// points at its types, so a plan never moves.
static FWDPlan *allocate(size_t argument_count) {
  // Each argument has at most two parts, and the hidden pointer is one more.
  size_t parts = 2 * argument_count + 1;
  size_t composites = argument_count + 1;
  size_t slots_end = sizeof(FWDPlan) + argument_count * sizeof(FWDSlot);
  slots_end = (slots_end + 15) & ~(size_t)15;
  size_t parts_end = slots_end + parts * sizeof(FWDPart);
  size_t types_end = parts_end + parts * sizeof(ffi_type *);
  size_t composites_end = types_end + composites * sizeof(ffi_type);
  size_t elements_end = composites_end + composites * 5 * sizeof(ffi_type *);
  size_t matches_end = elements_end + (argument_count + 1) * sizeof(uintptr_t);
  // At most one for each argument.
  size_t moved = FWD_ABI_AAPCS64 ? argument_count * sizeof(FWDMoved) : 0;
  char *block = calloc(1, matches_end + moved);
  if (!block) return NULL;
  FWDPlan *plan = (FWDPlan *)block;
  plan->parts = (FWDPart *)(block + slots_end);
  plan->types = (ffi_type **)(block + parts_end);
  plan->composites = (ffi_type *)(block + types_end);
  plan->elements = (ffi_type **)(block + composites_end);
  plan->facts.matches = (uintptr_t *)(block + elements_end);
  plan->moved = moved ? (FWDMoved *)(block + matches_end) : NULL;
  plan->facts.slots = plan->slots;
  plan->facts.argument_count = (uint32_t)argument_count;
  plan->keepers = 1;
  return plan;
}

/// The bytes of stack that a call of `plan` needs, with a page for the function itself; 0 if it
/// copies so little that no check is needed.
static uint32_t stack_needed(const FWDPlan *plan) {
  const uint32_t little = 1024, function = 4096;
  uint32_t bytes = 8 * plan->facts.stack_words;
  // libffi gathers the arguments once more, and needs a list of pointers to them. The second list
  // holds the addresses of copies.
  if (plan->facts.engine != FWDEngineDirect)
    bytes = 2 * plan->cif.bytes + 2 * (uint32_t)sizeof(void *) * (plan->part_count + 1);
  bytes += plan->copied_bytes;
  return bytes <= little ? 0 : bytes + function;
}

/// Computes once the facts that the hot paths would otherwise compute for each call.
static void describe(FWDPlan *plan) {
  FWDPlanFacts *facts = &plan->facts;
  FWDKind kind = facts->result.kind;
  int is_direct = facts->engine == FWDEngineDirect;
  int is_owned = kind == FWDKindObject || kind == FWDKindCString || kind == FWDKindSwiftValue;
  facts->caller = is_direct ? fwd_direct_caller(facts->shape) : fwd_call_libffi;
  if (!is_direct) facts->shape = FWD_SHAPE_OF_LIBFFI;
  facts->stack_needed = stack_needed(plan);
  facts->is_light = is_direct && !is_owned && facts->stack_needed == 0;
  facts->returns_value = kind != FWDKindNothing;
  if (facts->argument_count > 0) facts->receiver_offset = plan->slots[0].offset;
  if (facts->argument_count > 1) facts->selector_offset = plan->slots[1].offset;
  if (facts->argument_count > 64) facts->owned_words = (facts->argument_count - 1) / 64;
  facts->is_simple = is_direct && (facts->shape & 15) == FWDArgumentsIntegers &&
                     facts->owned_words == 0 && facts->result.route != FWDRouteHiddenPointer;
}

FWDStatus fwd_plan_create(const FWDValue *values, size_t argument_count, size_t fixed_count,
                          FWDPlan **out_plan, size_t *out_index) {
  *out_plan = NULL;
  FWDStatus status = fwd_values_check(values, argument_count, out_index);
  if (status != FWDStatusOk) return status;
  FWDPlan *plan = allocate(argument_count);
  if (!plan) return FWDStatusOutOfMemory;
  plan->facts.result = fwd_slot_describe(&values[0], 0);
  for (size_t i = 0; i < argument_count; i++)
    plan->slots[i] = fwd_slot_describe(&values[i + 1], i >= fixed_count);
  // A variadic callee needs the number of vector registers in use; libffi passes it.
  int is_direct = fwd_has_direct_engine() && fixed_count > argument_count;
  plan->facts.engine = is_direct ? FWDEngineDirect : FWDEngineLibffi;
  status = fwd_place_values(plan, out_index);
  if (status == FWDStatusOk) {
    *out_index = 0;
    status = fwd_prepare_libffi(plan, fixed_count);
  }
  if (status != FWDStatusOk) {
    free(plan);
    return status;
  }
  describe(plan);
  *out_plan = plan;
  return FWDStatusOk;
}

FWDStatus fwd_finish_cif(FWDPlan *plan, ffi_type *result, uint32_t fixed_parts, int is_variadic) {
  uint32_t count = plan->part_count;
  for (uint32_t i = 0; i < count; i++) plan->types[i] = plan->parts[i].type;
  ffi_status status =
      is_variadic
          ? ffi_prep_cif_var(&plan->cif, FFI_DEFAULT_ABI, fixed_parts, count, result, plan->types)
          : ffi_prep_cif(&plan->cif, FFI_DEFAULT_ABI, count, result, plan->types);
  switch (status) {
    case FFI_OK: return FWDStatusOk;
    case FFI_BAD_ABI: return FWDStatusUnsupportedConvention;
    default: return FWDStatusUnsupportedValue;
  }
}

void fwd_plan_keep(FWDPlan *plan) { __atomic_add_fetch(&plan->keepers, 1, __ATOMIC_RELAXED); }

void fwd_plan_destroy(FWDPlan *plan) {
  if (__atomic_sub_fetch(&plan->keepers, 1, __ATOMIC_ACQ_REL) == 0) free(plan);
}

void fwd_plan_set_swift_plan(FWDPlan *plan, const void *swift_plan, const void *identity,
                             int has_swift_text) {
  plan->facts.swift_plan = swift_plan;
  plan->facts.identity = identity ? identity : plan;
  plan->facts.has_swift_text = has_swift_text != 0;
}

const FWDPlanFacts *fwd_plan_facts(const FWDPlan *plan) { return &plan->facts; }

const FWDSlot *fwd_plan_result(const FWDPlan *plan) { return &plan->facts.result; }
