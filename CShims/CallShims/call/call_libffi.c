// SPDX-License-Identifier: Apache-2.0
/// Calls through libffi, on every platform: passes parts of a frame, and stores the result.
#include "../plan/fwd_plan_internal.h"

_Static_assert(sizeof(ffi_arg) == 8, "libffi widens small results to one slot of 8 bytes");
_Static_assert(offsetof(FWDPlan, facts) == 0, "a plan is found by its facts");

void fwd_call_libffi(const FWDPlanFacts *facts, FWDFrame *frame, const void *function) {
  // A plan begins with its facts.
  const FWDPlan *plan = (const FWDPlan *)facts;
  if (facts->stack_needed) fwd_touch_stack(facts->stack_needed);
  // Built for every call: before 3.7, ffi_call may point these pointers at its own dead stack when
  // a large structure is passed by value.
  void *values[plan->part_count + 1];
  void *addresses[FWD_PASSES_BY_AAPCS64 ? plan->part_count + 1 : 1];
  char *copy = plan->copied_bytes ? __builtin_alloca_with_align(plan->copied_bytes, 128) : NULL;
  for (uint32_t i = 0; i < plan->part_count; i++) {
    const FWDPart *part = &plan->parts[i];
    values[i] = (char *)frame + part->offset;
    if (!part->is_copied) continue;
    values[i] = memcpy(copy, values[i], part->size);
    copy += fwd_round_up(part->size, 16);
    if (!fwd_part_is_address(part)) continue;
    addresses[i] = values[i];
    values[i] = &addresses[i];
  }
  // ffi_call only reads the cif, although its parameter is not const.
  ffi_call((ffi_cif *)&plan->cif, FFI_FN(function), (char *)frame + plan->libffi_result, values);
}
