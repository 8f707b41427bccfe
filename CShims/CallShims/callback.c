/// C function pointers backed by a handler, through libffi's closures.
///
/// Debian's libffi maps a page that is writable and executable for them; see Documentation.
#include <stdlib.h>

#include "fwd_plan_internal.h"

struct FWDCallback {
  ffi_closure *closure;
  const FWDPlan *plan;
  FWDCallbackHandler handler;
  void *context;
};

static void enter(ffi_cif *cif, void *result, void **values, void *user) {
  (void)cif;
  const FWDCallback *callback = user;
  const FWDPlan *plan = callback->plan;
  const FWDPlanFacts *facts = &plan->facts;
  // At most 144 bytes, 64 KiB of stack words and 64 KiB of result: bounded by the plan.
  char *memory = __builtin_alloca_with_align(facts->frame_size, 128);
  FWDFrame *frame = (FWDFrame *)memory;
  memset(frame, 0, facts->frame_size);
  for (uint32_t i = 0; i < plan->part_count; i++)
    memcpy(memory + plan->parts[i].offset, values[i], plan->parts[i].size);
  // The handler may free the callback, so nothing of it is touched afterwards.
  FWDSlot slot = facts->result;
  uint64_t hidden = frame->integers[0];
  callback->handler(callback->context, frame);
  switch (slot.place) {
    case FWDPlaceNowhere: return;
    // A platform without classes: libffi's own layout of the result.
    case FWDPlaceStack: memcpy(result, memory + slot.offset, slot.size < 8 ? 8 : slot.size); return;
    case FWDPlaceHiddenPointer:
      memcpy((void *)hidden, memory + slot.offset, slot.size);
      memcpy(result, &hidden, sizeof hidden);
      return;
    case FWDPlaceX87: memcpy(result, frame->result, slot.size); return;
    case FWDPlaceRegisters:
      memcpy(result, frame->result, slot.second == FWDClassNone ? 8 : 16);
      return;
  }
}

FWDCallback *fwd_callback_create(const FWDPlan *plan, FWDCallbackHandler handler, void *context,
                                 const void **out_function) {
  FWDCallback *callback = malloc(sizeof *callback);
  if (!callback) return NULL;
  void *code = NULL;
  *callback = (FWDCallback){ffi_closure_alloc(sizeof(ffi_closure), &code), plan, handler, context};
  if (!callback->closure ||
      ffi_prep_closure_loc(callback->closure, (ffi_cif *)&plan->cif, enter, callback, code) !=
          FFI_OK) {
    if (callback->closure) ffi_closure_free(callback->closure);
    free(callback);
    return NULL;
  }
  *out_function = code;
  return callback;
}

void fwd_callback_destroy(FWDCallback *callback) {
  ffi_closure_free(callback->closure);
  free(callback);
}
