// SPDX-License-Identifier: Apache-2.0
/// C function pointers that call a handler, by trampolines or by closures of libffi.
///
/// The memory behind a function pointer is never freed, and a freed function is reused as late as
/// possible. C code that calls a freed function gets zero, and an event reports it. It does not
/// reach a callback of another type.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "fwd_callback_internal.h"
#include "../threads/fwd_hold_internal.h"

/// The least number of freed functions before one of them is reused.
enum { FREED_MIN = 64 };

/// Destroyed callbacks whose entries may be reused, in the order in which they were freed.
typedef struct Freed {
  FWDCallback *first, *last;
  size_t count;
} Freed;

static int prefers_libffi;
pthread_mutex_t fwd_callbacks_lock = PTHREAD_MUTEX_INITIALIZER;
static Freed freed[3];

static void enqueue(FWDCallback *callback) {
  Freed *queue = &freed[callback->code];
  callback->next = NULL;
  if (queue->last)
    queue->last->next = callback;
  else
    queue->first = callback;
  queue->last = callback;
  queue->count++;
}

static FWDCallback *dequeue(FWDCallbackCode code) {
  Freed *queue = &freed[code];
  FWDCallback *callback = queue->first;
  if (!callback) return NULL;
  queue->first = callback->next;
  if (!queue->first) queue->last = NULL;
  queue->count--;
  return callback;
}

// MARK: Use

FWDCallback *fwd_callback_begin_use(FWDCallbackEntry *entry, FWDSlot *out_result) {
  const void *function = NULL;
  *out_result = (FWDSlot){.route = FWDRouteNowhere};
  pthread_mutex_lock(&fwd_callbacks_lock);
  FWDCallback *callback = (FWDCallback *)fwd_published(&entry->callback);
  if (callback) {
    callback->users++;
  } else if (entry->former) {
    *out_result = entry->former->plan->facts.result;
    // An only call that was late may report the same without the lock.
    if (!__atomic_exchange_n(&entry->former->is_reported, 1, __ATOMIC_RELAXED))
      function = entry->former->function;
  }
  pthread_mutex_unlock(&fwd_callbacks_lock);
  if (function) fwd_report_event(FWDEventFreedCallback, function);
  return callback;
}

void fwd_callback_end_use(FWDCallback *callback) {
  pthread_mutex_lock(&fwd_callbacks_lock);
  int is_last = --callback->users == 0;
  pthread_mutex_unlock(&fwd_callbacks_lock);
  if (!is_last) return;
  callback->body.release(callback->body.context);
  pthread_mutex_lock(&fwd_callbacks_lock);
  enqueue(callback);
  pthread_mutex_unlock(&fwd_callbacks_lock);
}

static void dispose(FWDRetirable *callback) { fwd_callback_end_use((FWDCallback *)callback); }

// MARK: Entries

/// Finds an entry for the kind of code of `callback`: a new one while few are free, otherwise the
/// one that was freed first. Returns 0 with the reason if there is no entry. The previous callback
/// of the entry answers late calls until the new one is published.
static int take_entry(FWDCallback *callback, FWDCallback **out_former, int *out_error) {
  FWDCallbackCode code = callback->code;
  FWDCallbackEntry *entry = NULL;
  FWDCallback *former = NULL;
  *out_error = ENOMEM;
  pthread_mutex_lock(&fwd_callbacks_lock);
  if (freed[code].count <= FREED_MIN) {
    entry = code == FWDCallbackCodeLibffi
                ? fwd_closure_fresh(&callback->function)
                : fwd_trampoline_enter_at(callback, out_error);
  }
  if (!entry) {
    former = dequeue(code);
    if (former) {
      entry = former->entry;
      callback->function = former->function;
    }
  }
  pthread_mutex_unlock(&fwd_callbacks_lock);
  *out_former = former;
  callback->entry = entry;
  return entry != NULL;
}

int fwd_trampolines_are_allowed(void) {
  return FWD_HAS_DIRECT_ENGINE && !__atomic_load_n(&prefers_libffi, __ATOMIC_RELAXED);
}

/// Finds code for `callback`; returns 0 with the reason if there is no code. If trampolines fail
/// only for lack of a resource, such as file descriptors, libffi is not used instead: it may map a
/// page that is writable and executable.
static int find_code(FWDCallback *callback, FWDCallback **out_former, int *out_error) {
  if (fwd_trampolines_are_allowed()) {
    callback->code = callback->body.direct ? FWDCallbackCodeDirect : FWDCallbackCodeTrampolines;
    if (take_entry(callback, out_former, out_error)) {
      fwd_trampoline_prepare(callback);
      return 1;
    }
    if (*out_error != 0) return 0;
  }
  callback->code = FWDCallbackCodeLibffi;
  callback->type = fwd_closure_type(callback->plan, out_error);
  if (!callback->type || !take_entry(callback, out_former, out_error)) return 0;
  if (fwd_closure_prepare(callback)) return 1;
  // The entry stays with its previous callback, and neither is freed. libffi is not expected to
  // refuse a type that it accepted before.
  *out_error = ENOTSUP;
  return 0;
}

FWDCallback *fwd_callback_create(FWDPlan *plan, FWDCallbackBody body, const void **out_function,
                                 int *out_error) {
  fwd_set_up_threads();
  FWDCallback *callback = calloc(1, sizeof *callback);
  *out_error = ENOMEM;
  if (!callback) return NULL;
  fwd_plan_keep(plan);
  callback->plan = plan;
  callback->body = body;
  callback->users = 1;
  FWDCallback *former = NULL;
  if (!find_code(callback, &former, out_error)) {
    fwd_plan_destroy(plan);
    free(callback);
    return NULL;
  }
  *out_function = callback->function;
  pthread_mutex_lock(&fwd_callbacks_lock);
  fwd_publish(&callback->entry->callback, callback);
  callback->entry->former = NULL;
  pthread_mutex_unlock(&fwd_callbacks_lock);
  if (former) {
    fwd_plan_destroy(former->plan);
    free(former);
  }
  return callback;
}

void fwd_callback_destroy(FWDCallback *callback) {
  // Under the lock, so that a call that cannot hold the callback is either counted before or does
  // not find it.
  pthread_mutex_lock(&fwd_callbacks_lock);
  fwd_publish(&callback->entry->callback, NULL);
  callback->entry->former = callback;
  pthread_mutex_unlock(&fwd_callbacks_lock);
  fwd_retire(&callback->retirable, dispose);
}

// MARK: Callbacks that C has

/// The bits of an address of a program, on both processors.
enum { ADDRESS_BITS = 48 };

/// Takes the owner of a callback; NULL for all but the first.
static void *take_owner(const FWDCallback *callback) {
  return __atomic_exchange_n((void **)&callback->owner, NULL, __ATOMIC_ACQ_REL);
}

void *fwd_callback_begin_only_call(const FWDCallback *callback) {
  void *owner = take_owner(callback);
  if (!owner && !__atomic_exchange_n((uint8_t *)&callback->is_reported, 1, __ATOMIC_RELAXED))
    fwd_report_event(FWDEventFreedCallback, callback->function);
  return owner;
}

void fwd_callback_answer(const FWDCallback *callback, FWDFrame *frame) {
  void *owner = callback->ends_by_call ? fwd_callback_begin_only_call(callback) : NULL;
  if (callback->ends_by_call && !owner) return;
  callback->body.handler(callback->body.context, frame);
  if (owner) swift_release(owner);
}

void *fwd_callback_give(FWDCallback *callback, void *owner, int by_call) {
  void *none = NULL;
  if (!__atomic_compare_exchange_n(&callback->owner, &none, owner, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return NULL;
  callback->ends_by_call = by_call != 0;
  if (by_call) callback->is_simple = 0;
  // The entry is used again for other callbacks, so the upper bits, which no address has, are a number.
  static uintptr_t numbers;
  uintptr_t number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
  callback->given = (uintptr_t)callback->entry | number << ADDRESS_BITS;
  return (void *)callback->given;
}

void fwd_callback_release(void *given) {
  if (!given) return;
  FWDSlot former;
  uintptr_t entry = (uintptr_t)given & (((uintptr_t)1 << ADDRESS_BITS) - 1);
  FWDCallback *callback = fwd_callback_begin_use((FWDCallbackEntry *)entry, &former);
  if (!callback) return;
  void *owner = callback->given == (uintptr_t)given ? take_owner(callback) : NULL;
  if (owner)
    swift_release(owner);
  else
    fwd_report_event(FWDEventFreedCallback, callback->function);
  fwd_callback_end_use(callback);
}

FWDCallbackCode fwd_callback_code(void) {
  if (!fwd_trampolines_are_allowed()) return FWDCallbackCodeLibffi;
  int error = 0;
  pthread_mutex_lock(&fwd_callbacks_lock);
  int is_possible = fwd_trampoline_is_ready(&error) || error != 0;
  pthread_mutex_unlock(&fwd_callbacks_lock);
  return is_possible ? FWDCallbackCodeTrampolines : FWDCallbackCodeLibffi;
}

void fwd_callback_prefer_libffi(int prefer) {
  __atomic_store_n(&prefers_libffi, prefer, __ATOMIC_RELAXED);
}
