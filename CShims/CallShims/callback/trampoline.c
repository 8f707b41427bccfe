// SPDX-License-Identifier: Apache-2.0
/// The C code between a trampoline and a handler.
#include "fwd_callback_internal.h"
#include "fwd_registers.h"

#include <stdlib.h>

#if FWD_ABI_SYSV
#include "fwd_arrival_x86_64.h"
#else
#include "fwd_arrival_aarch64.h"
#endif

_Static_assert(offsetof(FWDFrame, vectors) == FWD_LAYOUT_VECTORS, "the entry stores them there");
_Static_assert(FWD_FRAME_RESULT == FWD_LAYOUT_RESULT, "the entry looks for the result there");
_Static_assert(FWD_FRAME_STACK == FWD_LAYOUT_FRAME, "the entry takes as much of the stack");

void fwd_trampoline_prepare(FWDCallback *callback) {
  callback->is_large = callback->plan->facts.frame_size > FWD_FRAME_STACK;
  callback->how = how_to_return(&callback->plan->facts.result);
  callback->is_simple = !callback->is_large && callback->how == AS_WORDS;
}

static void answer_large(const FWDCallback *callback, FWDFrame *frame, FWDFrame *registers,
                         const void *stack_words) {
  const FWDPlanFacts *facts = &callback->plan->facts;
  char *memory = (char *)frame;
  memcpy(frame, registers, FWD_FRAME_STACK);
  memset(memory + FWD_FRAME_STACK, 0, facts->frame_size - FWD_FRAME_STACK);
  memcpy(memory + FWD_FRAME_STACK, stack_words, facts->stack_words * 8);
  gather(callback->plan, frame);
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
  if (slot->route != FWDRouteHiddenPointer) return place_result(how_to_return(slot), registers->result);
  memset(result_address(registers), 0, slot->size);
  registers->result[0] = (uintptr_t)result_address(registers);
  return AS_WORDS;
}

/// Handles a call with stack words, or with a result in memory: the handler gets a frame with room
/// for them.
__attribute__((noinline)) static int enter_large(const FWDCallback *callback, FWDFrame *registers,
                                                 const void *stack_words) {
  uint32_t size = callback->plan->facts.frame_size;
  int is_hidden = callback->plan->facts.result.route == FWDRouteHiddenPointer;
  int how = callback->how;
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
  if (!is_hidden) return place_result(how, registers->result);
  registers->result[0] = (uintptr_t)result_address(registers);
  return AS_WORDS;
}

/// Handles a call that is more than its registers, whose result is not just two words, or which ends
/// the callback.
__attribute__((noinline)) static int enter_specially(const FWDCallback *callback, FWDFrame *frame,
                                                     const void *stack_words) {
  if (callback->is_large) return enter_large(callback, frame, stack_words);
  int how = callback->how;
  fwd_callback_answer(callback, frame);
  return place_result(how, frame->result);
}

/// Handles a call if the callback is destroyed, the thread holds too many objects, or there is no
/// memory for its record.
__attribute__((noinline)) static int enter_unheld(FWDCallbackEntry *entry, FWDFrame *frame,
                                                  const void *stack_words) {
  FWDSlot former;
  FWDCallback *callback = fwd_callback_begin_use(entry, &former);
  if (!callback) return answer_zero(&former, frame);
  int how = enter_specially(callback, frame, stack_words);
  fwd_callback_end_use(callback);
  return how;
}

/// The function that `fwd_trampoline_entry` calls.
int fwd_trampoline_enter(FWDCallbackEntry *entry, FWDFrame *frame, const void *stack_words);

int fwd_trampoline_enter(FWDCallbackEntry *entry, FWDFrame *frame, const void *stack_words) {
  memset(frame->result, 0, sizeof frame->result);
  FWDThread *thread = fwd_thread();
  FWDHold *hold = thread ? thread->top : NULL;
  const FWDCallback *callback = fwd_hold(thread, &entry->callback);
  if (__builtin_expect(!callback, 0)) return enter_unheld(entry, frame, stack_words);
  int how = AS_WORDS;
  if (__builtin_expect(callback->is_simple, 1))
    callback->body.handler(callback->body.context, frame);
  else
    how = enter_specially(callback, frame, stack_words);
  fwd_let_go_from(thread, hold);
  return how;
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

/// The function that `fwd_trampoline_direct_entry` calls, by Swift's calling convention: the
/// arguments stay in their registers.
__attribute__((swiftcall)) Returned fwd_trampoline_enter_direct(
    REGISTERS, __attribute__((swift_context)) FWDCallbackEntry *entry);

__attribute__((swiftcall)) Returned fwd_trampoline_enter_direct(
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
