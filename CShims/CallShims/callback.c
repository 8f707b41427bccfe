/// C function pointers that enter a handler: by trampolines, or else by libffi's closures.
#include <stdlib.h>

#include "fwd_callback_internal.h"

static int prefers_libffi;

/// Where libffi's closures lead.
static void enter(ffi_cif *cif, void *result, void **values, void *user) {
  (void)cif;
  FWDThread *thread = fwd_thread();
  const FWDCallback *callback = user;
  int is_held = fwd_hold(thread, (const void *const *)&callback->self) != NULL;
  const FWDPlan *plan = callback->plan;
  const FWDPlanFacts *facts = &plan->facts;
  // At most 144 bytes, 64 KiB of stack words and 64 KiB of result: bounded by the plan.
  char *memory = __builtin_alloca_with_align(facts->frame_size, 128);
  FWDFrame *frame = (FWDFrame *)memory;
  memset(frame, 0, facts->frame_size);
  for (uint32_t i = 0; i < plan->part_count; i++)
    memcpy(memory + plan->parts[i].offset, values[i], plan->parts[i].size);
  FWDSlot slot = facts->result;
  uint64_t hidden = frame->integers[0];
  callback->handler(callback->context, frame);
  switch (slot.place) {
    case FWDPlaceNowhere: break;
    // A platform without classes: libffi's own layout of the result.
    case FWDPlaceStack: memcpy(result, memory + slot.offset, slot.size < 8 ? 8 : slot.size); break;
    case FWDPlaceHiddenPointer:
      memcpy((void *)hidden, memory + slot.offset, slot.size);
      memcpy(result, &hidden, sizeof hidden);
      break;
    case FWDPlaceX87: memcpy(result, frame->result, slot.size); break;
    case FWDPlaceRegisters:
      memcpy(result, frame->result, slot.second == FWDClassNone ? 8 : 16);
      break;
  }
  if (is_held) fwd_let_go(thread);
}

static const void *take_closure(FWDCallback *callback) {
  void *code = NULL;
  callback->closure = ffi_closure_alloc(sizeof(ffi_closure), &code);
  if (!callback->closure) return NULL;
  callback->self = callback;
  callback->place = &callback->self;
  if (ffi_prep_closure_loc(callback->closure, (ffi_cif *)&callback->plan->cif, enter, callback,
                           code) == FFI_OK)
    return code;
  ffi_closure_free(callback->closure);
  return NULL;
}

static int uses_trampolines(void) {
  return !__atomic_load_n(&prefers_libffi, __ATOMIC_RELAXED) && fwd_trampolines_work();
}

FWDCallback *fwd_callback_create(const FWDPlan *plan, FWDCallbackHandler handler, void *context,
                                 void (*release)(void *), const void **out_function) {
  FWDCallback *callback = calloc(1, sizeof *callback);
  if (!callback) return NULL;
  callback->plan = plan;
  callback->handler = handler;
  callback->context = context;
  callback->release = release;
  const void *code = uses_trampolines() ? fwd_trampoline_take(callback) : NULL;
  if (!code) code = take_closure(callback);
  if (!code) {
    free(callback);
    return NULL;
  }
  *out_function = code;
  return callback;
}

static void dispose(void *pointer) {
  FWDCallback *callback = pointer;
  if (callback->closure)
    ffi_closure_free(callback->closure);
  else
    fwd_trampoline_give_back(callback->place);
  callback->release(callback->context);
  free(callback);
}

void fwd_callback_destroy(FWDCallback *callback) {
  fwd_publish(callback->place, NULL);
  fwd_retire(callback, dispose);
}

FWDCallbackCode fwd_callback_code(void) {
  return uses_trampolines() ? FWDCallbackCodeTrampolines : FWDCallbackCodeLibffi;
}

void fwd_callback_prefer_libffi(int prefer) {
  __atomic_store_n(&prefers_libffi, prefer, __ATOMIC_RELAXED);
}
