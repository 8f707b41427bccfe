// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "fwd_plan_internal.h"

/// Allocates a plan, its slots and the words of its matches in one block.
static FWDPlan *allocate(size_t argument_count) {
  size_t slots_end = sizeof(FWDPlan) + argument_count * sizeof(FWDSlot);
  size_t matches_end = slots_end + (argument_count + 1) * sizeof(uintptr_t);
  // At most one for each argument.
  size_t copied = FWD_ABI_AAPCS64 ? argument_count * sizeof(FWDCopied) : 0;
  char *block = calloc(1, matches_end + copied);
  if (!block) return NULL;
  FWDPlan *plan = (FWDPlan *)block;
  plan->facts.matches = (uintptr_t *)(block + slots_end);
  plan->copied = (FWDCopied *)(block + matches_end);
  plan->facts.slots = plan->slots;
  plan->facts.argument_count = (uint32_t)argument_count;
  plan->keepers = 1;
  return plan;
}

/// The bytes of stack that a call of `plan` needs, with a page for the function itself; 0 if it
/// copies so little that no check is needed.
static uint32_t stack_needed(const FWDPlan *plan) {
  const uint32_t little = 1024, function = 4096;
  uint32_t bytes = FWD_HAS_DIRECT_ENGINE ? 8 * plan->facts.stack_words + plan->copied_bytes
                                         : fwd_libffi_stack(plan);
  return bytes <= little ? 0 : bytes + function;
}

/// Computes once the facts that the hot paths would otherwise compute for each call.
static void describe(FWDPlan *plan) {
  FWDPlanFacts *facts = &plan->facts;
  FWDKind kind = facts->result.kind;
  int is_owned = kind == FWDKindObject || kind == FWDKindCString || kind == FWDKindSwiftValue;
  facts->returns = fwd_registers_of(&facts->result);
  facts->inlined = plan->loads_integers && facts->returns <= FWD_RETURN_INTEGERS
                       ? facts->returns
                       : FWD_NOT_INLINED;
  facts->stack_needed = stack_needed(plan);
  facts->is_light = !is_owned && facts->stack_needed == 0;
  facts->returns_value = kind != FWDKindNothing;
  if (facts->argument_count > 0) facts->receiver_offset = plan->slots[0].offset;
  if (facts->argument_count > 1) facts->selector_offset = plan->slots[1].offset;
  if (facts->argument_count > 64) facts->owned_words = (facts->argument_count - 1) / 64;
  facts->is_simple = plan->loads_integers && facts->owned_words == 0 &&
                     facts->result.route != FWDRouteHiddenPointer;
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
  plan->fixed_count = fixed_count > argument_count ? UINT32_MAX : (uint32_t)fixed_count;
  status = fwd_place_values(plan, out_index);
  if (status == FWDStatusOk && !FWD_HAS_DIRECT_ENGINE) {
    int refused = fwd_libffi_refuses(&plan->facts);
    *out_index = refused < 0 ? 0 : (size_t)refused;
    if (refused >= 0) status = FWDStatusUnsupportedValue;
  }
  if (status != FWDStatusOk) {
    free(plan);
    return status;
  }
  describe(plan);
  *out_plan = plan;
  return FWDStatusOk;
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
