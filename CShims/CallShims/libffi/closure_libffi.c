// SPDX-License-Identifier: Apache-2.0
/// C function pointers by closures of libffi, where no trampoline can be mapped.
#include <errno.h>
#include <stdlib.h>

#include "../threads/fwd_hold_internal.h"
#include "fwd_libffi.h"

/// The entry of a closure.
typedef struct Closure {
  FWDCallbackEntry entry;
  ffi_closure *closure;
} Closure;

_Static_assert(offsetof(Closure, entry) == 0, "a closure is found by its entry");

/// A type of closures. It is never freed: C code that calls too late may run in libffi, which reads
/// it, for any time. There is one for each type that was ever used.
typedef struct Type {
  struct Type *next;
  FWDPlan *plan;
  ffi_cif *cif;
} Type;

static int is_same(const FWDPlanFacts *one, const FWDPlanFacts *other) {
  return one->argument_count == other->argument_count &&
         memcmp(&one->result, &other->result, sizeof one->result) == 0 &&
         memcmp(one->slots, other->slots, one->argument_count * sizeof *one->slots) == 0;
}

const void *fwd_closure_type(FWDPlan *plan, int *out_error) {
  static Type *types;
  *out_error = ENOTSUP;
  if (fwd_libffi_refuses(&plan->facts) >= 0) return NULL;
  *out_error = ENOMEM;
  pthread_mutex_lock(&fwd_callbacks_lock);
  Type *type = types;
  while (type && !is_same(&type->plan->facts, &plan->facts)) type = type->next;
  if (!type && (type = malloc(sizeof *type + fwd_libffi_size(plan)))) {
    fwd_plan_keep(plan);
    *type = (Type){types, plan, fwd_libffi_prepare(plan, type + 1)};
    types = type;
  }
  pthread_mutex_unlock(&fwd_callbacks_lock);
  return type ? type->cif : NULL;
}

static void answer(const FWDCallback *callback, FWDFrame *frame, void *result, void **values) {
  const FWDPlanFacts *facts = &callback->plan->facts;
  memset(frame, 0, facts->frame_size);
  for (uint32_t i = 0; i < facts->argument_count; i++)
    if (facts->slots[i].size) fwd_slot_store_raw(&facts->slots[i], frame, *values++);
  FWDSlot slot = facts->result;
  fwd_callback_answer(callback, frame);
  // libffi reads a small result as a word.
  if (slot.size >= 8)
    fwd_slot_load(&slot, frame, result, slot.size);
  else if (slot.size)
    memcpy(result, (char *)frame + slot.offset, 8);
}

static void answer_zero(const ffi_cif *cif, void *result) {
  size_t size = cif->rtype->size;
  if (cif->rtype->type != FFI_TYPE_VOID) memset(result, 0, size < 8 ? 8 : size);
}

/// Answers a call of a callback that cannot end meanwhile.
static void answer_held(const FWDCallback *callback, ffi_cif *cif, void *result, void **values) {
  uint32_t size = callback->plan->facts.frame_size;
  if (callback->type != cif) {
    // A late call of the previous callback, which began before the entry got another type.
    answer_zero(cif, result);
    return fwd_report_event(FWDEventFreedCallback, callback->function);
  }
  if (size <= FWD_FRAME_ON_STACK_MAX)
    return answer(callback, __builtin_alloca_with_align(size, 128), result, values);
  void *memory = malloc(size);
  if (memory) {
    answer(callback, memory, result, values);
  } else {
    answer_zero(cif, result);
    fwd_report_event(FWDEventCallbackWithoutMemory, callback->function);
  }
  free(memory);
}

/// The function that libffi's closures call.
static void enter(ffi_cif *cif, void *result, void **values, void *user) {
  FWDCallbackEntry *entry = user;
  FWDThread *thread = fwd_thread();
  FWDHold *hold = thread ? thread->top : NULL;
  const FWDCallback *callback = fwd_hold(thread, &entry->callback);
  if (callback) {
    answer_held(callback, cif, result, values);
    return fwd_let_go_from(thread, hold);
  }
  FWDSlot former;
  FWDCallback *used = fwd_callback_begin_use(entry, &former);
  if (!used) return answer_zero(cif, result);
  answer_held(used, cif, result, values);
  fwd_callback_end_use(used);
}

FWDCallbackEntry *fwd_closure_fresh(const void **out_function) {
  Closure *closure = calloc(1, sizeof *closure);
  void *code = NULL;
  if (!closure) return NULL;
  // Its memory is never returned to libffi, which would reuse or unmap it while C code may call it.
  closure->closure = ffi_closure_alloc(sizeof(ffi_closure), &code);
  if (!closure->closure) {
    free(closure);
    return NULL;
  }
  *out_function = code;
  return &closure->entry;
}

int fwd_closure_prepare(FWDCallback *callback) {
  Closure *closure = (Closure *)callback->entry;
  return ffi_prep_closure_loc(closure->closure, (ffi_cif *)callback->type, enter, callback->entry,
                              (void *)callback->function) == FFI_OK;
}
