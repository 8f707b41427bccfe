// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_thread.h"

#pragma clang assume_nonnull begin

// Reading memory that other threads replace, without a lock and without reference counting: a
// hazard-pointer scheme.
//
// Shared memory is published at a *cell*: one word. A reader *holds* the object at the cell: it
// writes the address into a slot of its thread, and reads the cell again. If the cell is unchanged,
// a writer that replaces the word will see the slot. A writer replaces the word and *retires* the
// old object. If no thread holds the object, it is disposed of immediately. If threads do, each of
// its holds is marked, and the release of the last marked hold disposes of it. Releasing an unmarked
// hold costs nothing, however long other objects are held.
//
// Two orders matter: a hold must be visible before the cell is read again, and a release must be
// visible before the mark is read. A barrier in the readers would cost as much as a lock, so
// writers make every running thread execute one (`membarrier`), where the system supports it.
// `Tests/Models/hold.pml` checks this protocol.
//
// No function here may be called from a signal handler.

/// Makes the reader's writes visible before its next read. It is a barrier of the processor, or of
/// the compiler alone if the writers execute one on all threads.
static inline void fwd_reader_barrier(const FWDThread *thread) {
  if (__builtin_expect(__atomic_load_n(&thread->makes_barriers, __ATOMIC_RELAXED), 0))
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  else
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/// Holds the object at `cell` in a slot that is in use, or that was changed meanwhile. Returns NULL
/// if no object is published. The slot's previous object is released, and disposed of here if this
/// was its last hold: the caller must hold no lock.
const void *_Nullable fwd_hold_again(FWDThread *thread, FWDHold *hold,
                                     const void *_Nullable const *_Nonnull cell);

/// Holds the object at `cell` in a slot that is already counted in `top`. Returns NULL if no object
/// is published. `thread` is the current thread.
__attribute__((always_inline)) static inline const void *_Nullable fwd_hold_in(
    FWDThread *thread, FWDHold *hold, const void *_Nullable const *_Nonnull cell) {
  const void *seen = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
  __atomic_store_n((const void **)&hold->thing, seen, __ATOMIC_RELEASE);
  fwd_reader_barrier(thread);
  const void *now = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
  return __builtin_expect(now == seen, 1) ? seen : fwd_hold_again(thread, hold, cell);
}

/// Lets other threads search the slot `hold`, which may be the last one of all. Returns 0 if it is: only
/// code that runs no other code may use it.
int fwd_make_room(FWDThread *thread, FWDHold *hold);

/// Returns whether a thread may hold one more object, in the slot `hold`.
__attribute__((always_inline)) static inline int fwd_has_room(FWDThread *thread, FWDHold *hold) {
  return __builtin_expect(hold < thread->room, 1) || fwd_make_room(thread, hold);
}

/// Holds the object at `cell`. Returns NULL if no object is published, the thread holds too many
/// objects, or `thread` is NULL. The caller then takes a path that needs no hold.
///
/// `thread` is the current thread. The object may be read, but not changed, until it is released.
/// Each success is followed by one `fwd_let_go` of the same function, in reverse order. So a method may
/// not switch to another stack that sends messages, as a coroutine of `swapcontext` would, and come back
/// in another order; checked builds trap.
__attribute__((always_inline)) static inline const void *_Nullable fwd_hold(
    FWDThread *_Nullable thread, const void *_Nullable const *_Nonnull cell) {
  if (!thread) return NULL;
  FWDHold *hold = thread->top;
  if (!fwd_has_room((FWDThread *)thread, hold)) return NULL;
  // Counted first: code that interrupts the thread from here on uses slots further up.
  thread->top = hold + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const void *held = fwd_hold_in((FWDThread *)thread, hold, cell);
  if (__builtin_expect(!held, 0)) thread->top = hold;
  return held;
}

/// Disposes of the object that was retired while it was held in `hold`, if this was its last hold. The
/// slot is already empty. Takes the threads lock, which the caller must not hold.
void fwd_let_go_of_retired(FWDHold *hold);

/// Releases a hold, the last one of the thread.
///
/// An object that was retired meanwhile may be disposed of here, which may run any code: the caller
/// must hold no lock.
__attribute__((always_inline)) static inline void fwd_let_go_from(FWDThread *thread, FWDHold *hold) {
#if FWD_IS_CHECKED
  if (thread->top != hold + 1) __builtin_trap();
#endif
  __atomic_store_n((const void **)&hold->thing, NULL, __ATOMIC_RELEASE);
  thread->top = hold;
  fwd_reader_barrier(thread);
  if (__builtin_expect(__atomic_load_n(&hold->wanted, __ATOMIC_RELAXED) != NULL, 0))
    fwd_let_go_of_retired(hold);
}

/// Releases the last hold of the thread, where the slot is not known.
static inline void fwd_let_go(FWDThread *thread) { fwd_let_go_from(thread, thread->top - 1); }

/// Publishes `thing` at `cell`, and returns the previous object, which readers may still hold: the
/// caller retires it. The writers of one cell use a lock of their own, or own the cell.
static inline void *_Nullable fwd_publish(const void *_Nullable *_Nonnull cell,
                                          const void *_Nullable thing) {
  return (void *)__atomic_exchange_n(cell, thing, __ATOMIC_ACQ_REL);
}

/// Returns the object at `cell`. It is not held, so it may only be compared, unless the caller
/// holds the lock of the cell's writers.
static inline const void *_Nullable fwd_published(const void *_Nullable const *_Nonnull cell) {
  return __atomic_load_n(cell, __ATOMIC_ACQUIRE);
}

/// Calls `dispose(thing)` once no thread holds `thing`, which is no longer published: immediately,
/// or when the last hold is released, on that thread.
///
/// Takes ownership of `thing`, and `dispose` frees it. An object is retired once, on any thread.
/// The caller must hold no lock: disposing may run any code.
void fwd_retire(FWDRetirable *thing, void (*dispose)(FWDRetirable *thing));

#pragma clang assume_nonnull end
