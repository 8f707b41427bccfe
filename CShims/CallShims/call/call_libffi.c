/// Calls through libffi. The same on every platform: parts of a frame in, a result out.
#include "../plan/fwd_plan_internal.h"

_Static_assert(sizeof(ffi_arg) == 8, "libffi widens small results to one slot of 8 bytes");
_Static_assert(offsetof(FWDPlan, facts) == 0, "a plan is found by its facts");

/// Touches each page of the next `size` bytes of stack, in the order in which they come: what is
/// allocated below must not step over a guard. Freed when this returns.
__attribute__((noinline)) static void probe_stack(size_t size) {
  enum { PAGE = 4096 };
  for (size_t done = 0; done < size; done += PAGE) {
    volatile char *page = __builtin_alloca(PAGE);
    *page = 0;
  }
}

void fwd_call_libffi(const FWDPlanFacts *facts, FWDFrame *frame, const void *function) {
  // A plan begins with its facts.
  const FWDPlan *plan = (const FWDPlan *)facts;
  if (facts->stack_needed) probe_stack(facts->stack_needed);
  // Built for every call: before 3.7 ffi_call may aim these pointers at its own dead stack
  // when a large structure is passed by value.
  void *values[plan->part_count + 1];
  for (uint32_t i = 0; i < plan->part_count; i++)
    values[i] = (char *)frame + plan->parts[i].offset;
  // ffi_call only reads the cif, although its type does not say so.
  ffi_call((ffi_cif *)&plan->cif, FFI_FN(function), (char *)frame + plan->libffi_result, values);
}
