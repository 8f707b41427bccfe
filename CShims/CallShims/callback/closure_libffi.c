// SPDX-License-Identifier: Apache-2.0
/// C function pointers by closures of libffi, for platforms without trampolines.
#include <stdlib.h>

#include "../threads/fwd_hold_internal.h"
#include "fwd_callback_internal.h"

/// The entry of a libffi closure.
typedef struct Closure {
  FWDCallbackEntry entry;
  ffi_closure *closure;
} Closure;

_Static_assert(offsetof(Closure, entry) == 0, "a closure is found by its entry");

#if FWD_ABI_SYSV

/// Writes zero in place of the result of `slot`.
static void answer_zero(const FWDSlot *slot, void *result, void **values) {
  void *hidden;
  switch (slot->route) {
    case FWDRouteNowhere: return;
    case FWDRouteHiddenPointer:
      memcpy(&hidden, values[0], sizeof hidden);
      memset(hidden, 0, slot->size);
      memcpy(result, &hidden, sizeof hidden);
      return;
    case FWDRouteStack: return;
    case FWDRouteX87: memset(result, 0, slot->size); return;
    case FWDRouteRegisters: memset(result, 0, slot->second == FWDClassNone ? 8 : 16); return;
  }
}

/// Copies the result to where libffi reads it. `hidden` is the address of a result in memory.
static void give_result(const FWDSlot *slot, const char *frame, uint64_t hidden, void *result) {
  switch (slot->route) {
    case FWDRouteNowhere:
    case FWDRouteStack: break;
    case FWDRouteHiddenPointer:
      memcpy((void *)hidden, frame + slot->offset, slot->size);
      memcpy(result, &hidden, sizeof hidden);
      break;
    case FWDRouteX87: memcpy(result, frame + slot->offset, slot->size); break;
    case FWDRouteRegisters: memcpy(result, frame + slot->offset, slot->head <= 8 ? 8 : 16); break;
  }
}

#else

// libffi's own layout of a result: as in memory, widened to a word.

static void answer_zero(const FWDSlot *slot, void *result, void **values) {
  (void)values;
  if (slot->size) memset(result, 0, slot->size < 8 ? 8 : slot->size);
}

static void give_result(const FWDSlot *slot, const char *frame, uint64_t hidden, void *result) {
  (void)hidden;
  if (slot->size) memcpy(result, frame + slot->offset, slot->size < 8 ? 8 : slot->size);
}

#endif

static void answer(const FWDCallback *callback, FWDFrame *frame, void *result, void **values) {
  const FWDPlan *plan = callback->plan;
  char *memory = (char *)frame;
  memset(frame, 0, plan->facts.frame_size);
  for (uint32_t i = 0; i < plan->part_count; i++) {
    const FWDPart *part = &plan->parts[i];
    const void *value = fwd_part_is_address(part) ? *(void **)values[i] : values[i];
    memcpy(memory + part->offset, value, part->size);
  }
  FWDSlot slot = plan->facts.result;
  uint64_t hidden = frame->integers[0];
  fwd_callback_answer(callback, frame);
  give_result(&slot, memory, hidden, result);
}

/// Writes zero where libffi reads a result of the cif's type.
static void answer_zero_of(const ffi_cif *cif, void *result) {
  size_t size = cif->rtype->size;
  if (cif->rtype->type != FFI_TYPE_VOID) memset(result, 0, size < 8 ? 8 : size);
}

static void leave(FWDThread *thread, FWDHold *hold, FWDCallback *used) {
  if (used)
    fwd_callback_end_use(used);
  else
    fwd_let_go_from(thread, hold);
}

/// The function that libffi's closures call.
static void enter(ffi_cif *cif, void *result, void **values, void *user) {
  FWDCallbackEntry *entry = user;
  FWDThread *thread = fwd_thread();
  FWDHold *hold = thread ? thread->top : NULL;
  const FWDCallback *callback = fwd_hold(thread, &entry->callback);
  FWDCallback *used = NULL;
  FWDFormer former;
  if (!callback) callback = used = fwd_callback_begin_use(entry, &former);
  if (!callback) {
    // libffi may already use the type of the next callback, and have laid out the values for it.
    if (former.cif == cif) return answer_zero(&former.result, result, values);
    return answer_zero_of(cif, result);
  }
  if (callback->cif != cif) {
    // A late call of the previous callback, which began before the entry got another type.
    answer_zero_of(cif, result);
    fwd_report_event(FWDEventFreedCallback, callback->function);
    return leave(thread, hold, used);
  }
  uint32_t size = callback->plan->facts.frame_size;
  if (size <= FWD_FRAME_ON_STACK_MAX) {
    answer(callback, __builtin_alloca_with_align(size, 128), result, values);
  } else {
    void *memory = malloc(size);
    if (memory) {
      answer(callback, memory, result, values);
    } else {
      answer_zero(&callback->plan->facts.result, result, values);
      fwd_report_event(FWDEventCallbackWithoutMemory, callback->function);
    }
    free(memory);
  }
  leave(thread, hold, used);
}

/// Returns an unused closure. Its memory is never returned to libffi, which would reuse or unmap it
/// while C code may still call it.
FWDCallbackEntry *fwd_closure_fresh(const void **out_function) {
  Closure *closure = calloc(1, sizeof *closure);
  void *code = NULL;
  if (!closure) return NULL;
  closure->closure = ffi_closure_alloc(sizeof(ffi_closure), &code);
  if (!closure->closure) {
    free(closure);
    return NULL;
  }
  *out_function = code;
  return &closure->entry;
}

/// Sets the type of a callback's closure.
int fwd_closure_prepare(FWDCallback *callback) {
  Closure *closure = (Closure *)callback->entry;
  ffi_cif *cif = fwd_lasting_cif(callback->plan);
  callback->cif = cif;
  return ffi_prep_closure_loc(closure->closure, cif, enter, callback->entry,
                              (void *)callback->function) == FFI_OK;
}
