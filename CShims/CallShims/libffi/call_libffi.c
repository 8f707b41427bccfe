// SPDX-License-Identifier: Apache-2.0
/// Calls through libffi: passes copies of the values in a frame, and stores the result there.
#include "fwd_libffi.h"

_Static_assert(offsetof(FWDPlan, facts) == 0, "a plan is found by its facts");

/// The bytes of a copy of each value.
static uint32_t copied(const FWDPlanFacts *facts) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < facts->argument_count; i++)
    bytes += fwd_round_up(facts->slots[i].size, 16);
  return bytes;
}

uint32_t fwd_libffi_stack(const FWDPlan *plan) {
  // libffi gathers the values once more, copies those that are passed by address, and needs a
  // list of pointers to them.
  uint32_t lists = 2 * (uint32_t)sizeof(void *) * plan->facts.argument_count;
  return 3 * copied(&plan->facts) + lists + (uint32_t)fwd_libffi_size(plan) +
         plan->facts.result.size;
}

void fwd_call_libffi(const FWDPlanFacts *facts, FWDFrame *frame, const void *function) {
  // A plan begins with its facts.
  const FWDPlan *plan = (const FWDPlan *)facts;
  fwd_touch_stack(fwd_libffi_stack(plan));
  ffi_cif *cif = fwd_libffi_prepare(plan, __builtin_alloca(fwd_libffi_size(plan)));
  // Small results are widened to a word.
  char *result = __builtin_alloca_with_align(fwd_round_up(facts->result.size + 8, 16), 128);
  char *copy = __builtin_alloca_with_align(copied(facts) + 16, 128);
  void *values[facts->argument_count + 1], **value = values;
  for (uint32_t i = 0; i < facts->argument_count; i++) {
    const FWDSlot *slot = &facts->slots[i];
    if (!slot->size) continue;
    fwd_slot_load(slot, frame, copy, slot->size);
    *value++ = copy;
    copy += fwd_round_up(slot->size, 16);
  }
  ffi_call(cif, FFI_FN(function), result, values);
  if (facts->result.size) fwd_slot_store_raw(&facts->result, frame, result);
}
