#pragma once

#include "fwd_hold.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FWD_WITH_THREAD_SANITIZER 1
#endif
#if __has_feature(address_sanitizer)
#define FWD_WITH_ADDRESS_SANITIZER 1
#endif
#endif

#ifndef FWD_WITH_THREAD_SANITIZER
#define FWD_WITH_THREAD_SANITIZER 0
#endif
#ifndef FWD_WITH_ADDRESS_SANITIZER
#define FWD_WITH_ADDRESS_SANITIZER 0
#endif

/// All threads, behind `fwd_threads_lock`.
extern FWDThread *fwd_threads;

/// Sets up what all threads share, once.
void fwd_set_up_threads(void);

/// Finds out how barriers are made.
void fwd_set_up_barriers(void);

/// Returns what a new thread has to know of that. The lock of threads is held until it is in the list.
int fwd_new_thread_makes_barriers(void);

/// Ends the holds of `thread` from slot `first` on, and returns `dead` with all before it that
/// nobody holds any more. The lock of threads is held.
FWDRetirable *fwd_end_holds(FWDThread *thread, FWDHold *first, FWDRetirable *dead);

/// Disposes of a list. No lock is held.
void fwd_dispose_all(FWDRetirable *dead);

/// Leaves a list to the next thread that retires something or lets go of it. The lock of threads is
/// held.
void fwd_dispose_later(FWDRetirable *dead);
