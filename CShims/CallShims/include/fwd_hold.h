#pragma once

#include "fwd_thread.h"

#pragma clang assume_nonnull begin

// How memory that other threads replace is read without a lock and without counting references.
//
// What is shared is published at a *cell*: one word. A reader *holds* what it finds there: it
// writes the address into a slot of its thread, and looks at the cell again; if it is still there,
// a writer that replaces it will see the slot. A writer replaces the word and *retires* the old
// thing. If no thread holds it, it is disposed of at once; else each hold is marked, and letting go
// of the last marked one disposes of it. Letting go of anything else costs nothing, however long
// other things are held.
//
// Two orders matter: a hold is visible before its second look, and a let-go before its look at the
// mark. A barrier in readers would cost as much as a lock; so writers make every running thread pass
// one (`membarrier`) where the system can. `Tests/Models/hold.pml` checks this protocol.
//
// Nothing here may be called from a signal handler.

/// Makes what the reader wrote visible before it looks again: with a barrier of its own, or for the
/// compiler alone where writers make one for all threads.
static inline void fwd_reader_barrier(const FWDThread *thread) {
  if (__builtin_expect(__atomic_load_n(&thread->makes_barriers, __ATOMIC_RELAXED), 0))
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  else
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/// Holds what is published at `cell` in a slot that holds something already, or was changed
/// meanwhile; NULL if nothing is published now. What the slot held before is let go, and disposed of
/// here if this was its last hold: no lock may be held.
const void *_Nullable fwd_hold_again(FWDThread *thread, FWDHold *hold,
                                     const void *_Nullable const *_Nonnull cell);

/// Holds what is published at `cell` in a slot of the thread that is counted already; NULL if nothing
/// is. `thread` is the current one. `stack` is an address in the frame of the function that will let go.
__attribute__((always_inline)) static inline const void *_Nullable fwd_hold_in(
    FWDThread *thread, FWDHold *hold, const void *_Nullable const *_Nonnull cell, uintptr_t stack) {
  hold->stack = stack;
  const void *seen = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
  __atomic_store_n((const void **)&hold->thing, seen, __ATOMIC_RELEASE);
  fwd_reader_barrier(thread);
  const void *now = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
  return __builtin_expect(now == seen, 1) ? seen : fwd_hold_again(thread, hold, cell);
}

/// Makes room for `needed` holds from `hold` on, of code at `stack`; 0 if there is none. What a
/// jump left behind at `stack` or further down makes room for the next time: a running function has no
/// frame there. A function that holds something for the time of a call is not part of its callee, so no
/// two live holds have one address.
///
/// What the dead holds were the last to hold is disposed of here: no lock may be held.
int fwd_make_room(FWDThread *thread, FWDHold *hold, uint32_t needed, uintptr_t stack);

/// Says whether a thread may hold `needed` things more, from `hold` on. Does what `fwd_make_room` does
/// where that is not known at once.
__attribute__((always_inline)) static inline int fwd_has_room(FWDThread *thread, FWDHold *hold,
                                                              uint32_t needed, uintptr_t stack) {
  return __builtin_expect(hold + needed <= thread->room, 1) ||
         fwd_make_room(thread, hold, needed, stack);
}

/// Holds what is published at `cell`; NULL if nothing is, if the thread holds too much already, or
/// without a thread. The caller then takes a way that needs no hold.
///
/// `thread` is the current one. What is held may be read, not changed, until it is let go. Every
/// success is followed by one `fwd_let_go` of the same function, the last hold first.
__attribute__((always_inline)) static inline const void *_Nullable fwd_hold(
    FWDThread *_Nullable thread, const void *_Nullable const *_Nonnull cell) {
  if (!thread) return NULL;
  FWDHold *hold = thread->top;
  uintptr_t stack = fwd_stack_address();
  if (!fwd_has_room((FWDThread *)thread, hold, 1, stack)) return NULL;
  // Counted first: what interrupts the thread from here on holds things further up.
  thread->top = hold + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const void *held = fwd_hold_in((FWDThread *)thread, hold, cell, stack);
  if (__builtin_expect(!held, 0)) thread->top = hold;
  return held;
}

/// Disposes of what was retired while it was held in `count` slots from `hold` on, if these were
/// the last to hold it. The slots are empty already. Takes the lock of threads, so it may not be held.
void fwd_let_go_of_retired(FWDHold *hold, uint32_t count);

/// Lets go of what was held from slot `hold` on, which is one thing or two, on the thread that holds
/// it.
///
/// What was retired meanwhile may be disposed of here, which may run any code: no lock may be held.
__attribute__((always_inline)) static inline void fwd_let_go_from(FWDThread *thread, FWDHold *hold,
                                                                  int is_pair) {
  if (is_pair) __atomic_store_n((const void **)&hold[1].thing, NULL, __ATOMIC_RELEASE);
  __atomic_store_n((const void **)&hold->thing, NULL, __ATOMIC_RELEASE);
  thread->top = hold;
  fwd_reader_barrier(thread);
  int is_wanted = __atomic_load_n(&hold->wanted, __ATOMIC_RELAXED) != NULL;
  if (is_pair) is_wanted |= __atomic_load_n(&hold[1].wanted, __ATOMIC_RELAXED) != NULL;
  if (__builtin_expect(is_wanted, 0)) fwd_let_go_of_retired(hold, is_pair ? 2 : 1);
}

/// Lets go of what was held last, in the same way. Only for a function that ran no foreign code since
/// then: a `longjmp` out of that could have left other holds above this one.
static inline void fwd_let_go(FWDThread *thread) { fwd_let_go_from(thread, thread->top - 1, 0); }

/// Publishes `thing` at `cell` and returns what was there, which readers may still hold: the caller
/// retires it. Writers of one cell take a lock of their own, or own the cell.
static inline void *_Nullable fwd_publish(const void *_Nullable *_Nonnull cell,
                                          const void *_Nullable thing) {
  return (void *)__atomic_exchange_n(cell, thing, __ATOMIC_ACQ_REL);
}

/// Returns what is at `cell` now. It is not held, so it is only good to be compared, unless the
/// caller has the lock of the cell's writers.
static inline const void *_Nullable fwd_published(const void *_Nullable const *_Nonnull cell) {
  return __atomic_load_n(cell, __ATOMIC_ACQUIRE);
}

/// Calls `dispose(thing)` once no thread holds `thing`, which nobody can find any more: now, or when
/// the last hold ends, on the thread that ends it. A forked child lacks the other threads: what they
/// held goes to the next thread that retires something, or lets go of something retired.
///
/// `thing` belongs to this folder from here on, and `dispose` frees it. A thing is retired once, from
/// any thread. No lock may be held: disposing may run any code.
void fwd_retire(FWDRetirable *thing, void (*dispose)(FWDRetirable *thing));

#pragma clang assume_nonnull end
