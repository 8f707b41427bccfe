// SPDX-License-Identifier: Apache-2.0
/// The C code between a trampoline and a handler.
#include "fwd_callback_internal.h"
#include "fwd_registers.h"

#include <stdlib.h>

_Static_assert(offsetof(FWDFrame, vectors) == FWD_LAYOUT_VECTORS, "assembly finds them there");
_Static_assert(FWD_FRAME_RESULT == FWD_LAYOUT_RESULT, "assembly looks for the result there");
_Static_assert(FWD_FRAME_STACK == FWD_LAYOUT_FRAME, "assembly finds the stack words there");

/// The address where the caller wants a result in memory. On x86-64 it is an argument, and returned.
static void *result_address(const FWDFrame *registers) {
#if FWD_ABI_AAPCS64
  // The entry stores it behind the frame.
  return *(void *const *)((const char *)registers + FWD_LAYOUT_INDIRECT);
#else
  return (void *)registers->integers[0];
#endif
}

void fwd_trampoline_prepare(FWDCallback *callback) {
  callback->is_large = callback->plan->facts.frame_size > FWD_FRAME_STACK;
  callback->returns = callback->plan->facts.returns;
  callback->is_simple = !callback->is_large;
}

static void answer_large(const FWDCallback *callback, FWDFrame *frame, FWDFrame *registers,
                         const void *stack_words) {
  const FWDPlanFacts *facts = &callback->plan->facts;
  char *memory = (char *)frame;
  memcpy(frame, registers, FWD_FRAME_STACK);
  memset(memory + FWD_FRAME_STACK, 0, facts->frame_size - FWD_FRAME_STACK);
  memcpy(memory + FWD_FRAME_STACK, stack_words, facts->stack_words * 8);
  // A value that was passed by address is a copy that the caller made for this call.
  for (uint32_t i = 0; i < callback->plan->copied_count; i++) {
    const FWDCopied *copied = &callback->plan->copied[i];
    const void *value;
    memcpy(&value, memory + copied->address, sizeof value);
    memcpy(memory + copied->value, value, copied->size);
  }
  FWDSlot slot = facts->result;
  fwd_callback_answer(callback, frame);
  if (slot.route == FWDRouteHiddenPointer)
    memcpy(result_address(registers), memory + slot.offset, slot.size);
  else
    memcpy(registers->result, frame->result, sizeof frame->result);
}

/// Writes zero in place of the result of `slot`. On x86-64, x87 results must be pushed even then.
static int answer_zero(const FWDSlot *slot, FWDFrame *registers) {
  memset(registers->result, 0, sizeof registers->result);
  if (slot->route == FWDRouteHiddenPointer) {
    memset(result_address(registers), 0, slot->size);
    registers->result[0] = (uintptr_t)result_address(registers);
  }
  return fwd_registers_of(slot);
}

/// Handles a call with stack words, or with a result in memory: the handler gets a frame with room
/// for them.
__attribute__((noinline)) static int enter_large(const FWDCallback *callback, FWDFrame *registers,
                                                 const void *stack_words) {
  uint32_t size = callback->plan->facts.frame_size;
  int is_hidden = callback->plan->facts.result.route == FWDRouteHiddenPointer;
  int returns = callback->returns;
  if (size <= FWD_FRAME_ON_STACK_MAX) {
    answer_large(callback, __builtin_alloca_with_align(size, 128), registers, stack_words);
  } else {
    void *memory = malloc(size);
    if (!memory) {
      fwd_report_event(FWDEventCallbackWithoutMemory, callback->function);
      return answer_zero(&callback->plan->facts.result, registers);
    }
    answer_large(callback, memory, registers, stack_words);
    free(memory);
  }
  if (is_hidden) registers->result[0] = (uintptr_t)result_address(registers);
  return returns;
}

/// Handles a call that is more than its registers, or which ends the callback.
__attribute__((noinline)) static int enter_specially(const FWDCallback *callback, FWDFrame *frame,
                                                     const void *stack_words) {
  if (callback->is_large) return enter_large(callback, frame, stack_words);
  int returns = callback->returns;
  fwd_callback_answer(callback, frame);
  return returns;
}

/// Handles a call if the callback is destroyed, the thread holds too many objects, or there is no
/// memory for its record.
__attribute__((noinline)) static int enter_unheld(FWDCallbackEntry *entry, FWDFrame *frame,
                                                  const void *stack_words) {
  FWDSlot former;
  FWDCallback *callback = fwd_callback_begin_use(entry, &former);
  if (!callback) return answer_zero(&former, frame);
  int returns = enter_specially(callback, frame, stack_words);
  fwd_callback_end_use(callback);
  return returns;
}

/// The function that `fwd_trampoline_entry`, in assembly, calls.
int fwd_trampoline_enter(FWDCallbackEntry *entry, FWDFrame *frame, const void *stack_words);

int fwd_trampoline_enter(FWDCallbackEntry *entry, FWDFrame *frame, const void *stack_words) {
  memset(frame->result, 0, sizeof frame->result);
  FWDThread *thread = fwd_thread();
  FWDHold *hold = thread ? thread->top : NULL;
  const FWDCallback *callback = fwd_hold(thread, &entry->callback);
  if (__builtin_expect(!callback, 0)) return enter_unheld(entry, frame, stack_words);
  int returns = callback->returns;
  if (__builtin_expect(callback->is_simple, 1))
    callback->body.handler(callback->body.context, frame);
  else
    enter_specially(callback, frame, stack_words);
  fwd_let_go_from(thread, hold);
  return returns;
}

// MARK: Calls without a frame

// By Swift's calling convention, which leaves the registers of arguments and results as they are.

__attribute__((swiftcall)) static Returned call_direct(REGISTERS, const FWDCallback *callback) {
  void *error = NULL;
  Returned returned = ((DirectBody)callback->body.direct)(PASSED, callback->body.direct_context, &error);
  if (__builtin_expect(!error, 1)) return returned;
  callback->body.fail(callback->body.context, error);
  return (Returned){0};
}

/// Handles the only call of a callback.
__attribute__((noinline, swiftcall)) static Returned enter_direct_only(REGISTERS, const FWDCallback *callback) {
  void *owner = fwd_callback_begin_only_call(callback);
  if (!owner) return (Returned){0};
  Returned returned = call_direct(PASSED, callback);
  swift_release(owner);
  return returned;
}

/// Handles a call that cannot hold its callback; see `enter_unheld`.
__attribute__((noinline, swiftcall)) static Returned enter_direct_unheld(REGISTERS, FWDCallbackEntry *entry) {
  FWDSlot former;
  FWDCallback *callback = fwd_callback_begin_use(entry, &former);
  if (!callback) return (Returned){0};
  Returned returned = callback->ends_by_call ? enter_direct_only(PASSED, callback)
                                             : call_direct(PASSED, callback);
  fwd_callback_end_use(callback);
  return returned;
}

static __attribute__((swiftcall)) Returned enter_direct(
    REGISTERS, __attribute__((swift_context)) FWDCallbackEntry *entry) {
  FWDThread *thread = fwd_thread();
  FWDHold *hold = thread ? thread->top : NULL;
  const FWDCallback *callback = fwd_hold(thread, &entry->callback);
  if (__builtin_expect(!callback, 0)) return enter_direct_unheld(PASSED, entry);
  Returned returned = __builtin_expect(callback->ends_by_call, 0)
                          ? enter_direct_only(PASSED, callback)
                          : call_direct(PASSED, callback);
  fwd_let_go_from(thread, hold);
  return returned;
}

// MARK: Entries

// Missing without the direct engine.
#pragma weak fwd_trampoline_entry
extern void fwd_trampoline_entry(void);

FWDCallbackEntry *fwd_trampoline_enter_at(FWDCallback *callback, int *out_error) {
  FWDCallbackEntry *entry = calloc(1, sizeof *entry);
  FWDTrampoline *trampoline = entry ? fwd_trampoline_fresh(out_error) : NULL;
  if (!trampoline) {
    free(entry);
    return NULL;
  }
  const void *function =
      callback->body.direct ? (const void *)enter_direct : (const void *)fwd_trampoline_entry;
  *trampoline = (FWDTrampoline){function, (uintptr_t)entry};
  callback->function = fwd_trampoline_function(trampoline);
  return entry;
}
