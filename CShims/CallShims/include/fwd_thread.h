#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

// The state of one thread: what it holds, what it is forwarding, and what it uses again.

// No data of this folder is hidden from other images. The dynamic linker gives all images that
// contain this package the Swift code and the functions of one of them. If data were hidden, code
// that is inlined into the others would look at their own copies, which nobody changes.

// The frames of a step that fails, which AddressSanitizer makes several times as large.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define FWD_FORWARDING_FRAMES 32768
#endif
#endif
#ifndef FWD_FORWARDING_FRAMES
#define FWD_FORWARDING_FRAMES 16384
#endif

enum {
  /// How many things a thread may hold at a time. Beyond, the caller has to take a slower way.
#if FWD_IS_CHECKED
  FWD_HOLDS_MAX = 4,
#else
  FWD_HOLDS_MAX = 64,
#endif
  /// How many spare objects a thread keeps.
  FWD_SPARES = 8,
  /// How many spare blocks of memory a thread keeps, and how large they are.
  FWD_SPARE_BLOCKS = 16,
  FWD_BLOCK_SIZE = 288,
  /// How many forwarding steps may be inside of each other on one thread.
  FWD_FORWARDING_DEPTH = 200,
  /// From which depth on a step asks how much stack is left, and how many bytes it must find.
  FWD_FORWARDING_SHALLOW = 4,
  FWD_FORWARDING_STACK = FWD_FORWARDING_FRAMES,
};

/// Something that threads hold while others replace it. It is the first member of the thing.
typedef struct FWDRetirable {
  void (*_Nullable dispose)(struct FWDRetirable *thing);
  /// Once retired: how many holds are left.
  size_t holds;
  struct FWDRetirable *_Nullable next;
} FWDRetirable;

/// One thing that a thread holds.
typedef struct FWDHold {
  const void *_Nullable thing;
  /// `thing`, once it is retired: letting go of it takes the lock.
  FWDRetirable *_Nullable wanted;
  /// The stack address of the code that holds it. A `longjmp` over that code leaves the hold dead.
  uintptr_t stack;
  uintptr_t reserved;
} FWDHold;

typedef enum __attribute__((enum_extensibility(closed))) FWDForwarding : uint8_t {
  FWDForwardingEntered = 0,
  /// The same object is forwarding the same message already.
  FWDForwardingCycle,
  FWDForwardingTooDeep,
  /// The rest of the stack is too small for another step.
  FWDForwardingWithoutStack,
} FWDForwarding;

/// An object that is forwarding a message.
typedef struct FWDStep {
  const void *object;
  uint64_t message;
  /// As in `FWDHold`.
  uintptr_t stack;
} FWDStep;

/// Freed when the thread ends.
typedef struct FWDThread {
  /// The first hold that is not taken; only the thread itself looks at this.
  FWDHold *top;
  /// Up to where things are held without a look at what jumps have left: no more than half of all.
  FWDHold *room;
  /// How many of `holds` others have to look at; it only grows.
  uint32_t high;
  /// Whether the thread makes barriers of its own when it holds something, and when it lets go.
  int makes_barriers;
  FWDHold holds[FWD_HOLDS_MAX];
  /// Objects that the thread uses again, owned, and what each is good for.
  void *_Nullable spares[FWD_SPARES];
  const void *_Nullable spare_keys[FWD_SPARES];
  /// Blocks of `FWD_BLOCK_SIZE` bytes that the thread uses again, and how many it may keep.
  void *_Nullable blocks[FWD_SPARE_BLOCKS];
  uint32_t block_count;
  uint32_t block_limit;
  /// Numbers messages: the thread's own number in the high bits, then a count.
  uint64_t last_message;
  /// The neighbours in the list of all threads, behind its lock.
  struct FWDThread *_Nullable next;
  struct FWDThread *_Nullable previous;
  /// Why the last question to an object could not be asked; entered where it could.
  FWDForwarding unasked;
  /// The object that left out an optional requirement last, and the selector: compared, never followed.
  const void *_Nullable left_out;
  uint64_t left_out_selector;
  /// How many messages that were carried here are running inside of each other.
  uint32_t arrivals;
  /// The objects that are forwarding, and their messages, the first one first.
  uint32_t depth;
  FWDStep steps[FWD_FORWARDING_DEPTH];
} FWDThread;

_Static_assert(sizeof(FWDHold) == 32, "a hold is half a line of the processor's cache");
_Static_assert(_Alignof(max_align_t) >= 16, "a block of `malloc` is aligned to 16");

// Eight bytes, so that there is always room for it in the block that needs no call to reach. Other
// C libraries than glibc refuse to load such a block later.
#if defined(__linux__) && defined(__GLIBC__)
extern _Thread_local FWDThread *_Nullable fwd_thread_or_null
    __attribute__((tls_model("initial-exec")));
#else
extern _Thread_local FWDThread *_Nullable fwd_thread_or_null;
#endif

_Static_assert(sizeof fwd_thread_or_null == 8, "there is always room for it");

/// Makes this thread known, and returns its record, which lives until the thread ends. NULL without
/// memory. Only for a thread that has none: others ask `fwd_thread`.
FWDThread *_Nullable fwd_thread_enter(void);

/// Returns how many threads are known, for tests. Takes the lock of threads; the answer is as old as
/// that.
size_t fwd_thread_count(void);

/// Sets how a spare is released when its thread ends. Called once, before any spare is kept. It runs on
/// the thread that ends, under no lock, and may send messages.
void fwd_set_spare_release(void (*release)(void *spare));

/// Returns the record of this thread, which is made where there is none; NULL without memory. No other
/// thread may use it.
static inline FWDThread *_Nullable fwd_thread(void) {
  FWDThread *thread = fwd_thread_or_null;
  return __builtin_expect(thread != NULL, 1) ? thread : fwd_thread_enter();
}

/// Returns the current stack address of the function that this is part of; code that it calls lies
/// below.
__attribute__((always_inline)) static inline uintptr_t fwd_stack_address(void) {
#if defined(__x86_64__)
  uintptr_t address;
  __asm__("movq %%rsp, %0" : "=r"(address));
  return address;
#elif defined(__aarch64__)
  uintptr_t address;
  __asm__("mov %0, sp" : "=r"(address));
  return address;
#else
  return (uintptr_t)__builtin_frame_address(0);
#endif
}

/// Whether code that noted `stack` is gone, as seen from code of this thread at `now`: both lie in
/// the thread's own stack, and what lies below a running function has ended. Code on other stacks,
/// such as those of coroutines and signal handlers, never counts as gone. For rare paths.
int fwd_stack_is_dead(uintptr_t stack, uintptr_t now);

// MARK: Spares

/// Returns where the search for a key begins; what it returns is taken modulo `FWD_SPARES`. For the two
/// functions below.
static inline uint32_t fwd_spare_start(const void *key) {
  return (uint32_t)((uintptr_t)key * 0x9E3779B97F4A7C15u >> 56);
}

/// Takes a spare object that is good for `key`; NULL if the thread has none. The caller owns it then.
/// `thread` is the current one, and `key` is compared, never followed.
static inline void *_Nullable fwd_spare_take(FWDThread *thread, const void *key) {
  uint32_t first = fwd_spare_start(key);
  for (uint32_t i = 0; i < FWD_SPARES; i++) {
    uint32_t at = (first + i) % FWD_SPARES;
    if (thread->spare_keys[at] != key) continue;
    void *spare = thread->spares[at];
    thread->spares[at] = NULL;
    thread->spare_keys[at] = NULL;
    return spare;
  }
  return NULL;
}

/// Keeps a spare object, which the thread owns from here on, and returns the one that makes room for
/// it, or NULL. It returns `spare` itself where threads keep none. The caller releases what comes back.
static inline void *_Nullable fwd_spare_keep(FWDThread *thread, const void *key, void *spare) {
  if (thread->block_limit == 0) return spare;
  uint32_t first = fwd_spare_start(key), at = first % FWD_SPARES;
  for (uint32_t i = 0; i < FWD_SPARES; i++) {
    at = (first + i) % FWD_SPARES;
    if (!thread->spares[at]) break;
  }
  void *old = thread->spares[at];
  thread->spares[at] = spare;
  thread->spare_keys[at] = key;
  return old;
}

/// Returns a number that no other message has. Without memory for a thread all messages have 1; no
/// step can be entered then.
static inline uint64_t fwd_next_message(void) {
  FWDThread *thread = fwd_thread();
  return thread ? ++thread->last_message : 1;
}

// MARK: Blocks

/// Returns memory of `size` bytes, aligned to 16, with anything in it: from `malloc`, or from what the
/// thread has left over. Stops the process where there is none, as Swift does for its own objects.
/// The caller owns it, and gives it back with `fwd_block_give`.
static inline void *fwd_block_take(size_t size) {
  if (size <= FWD_BLOCK_SIZE) {
    FWDThread *thread = fwd_thread();
    if (thread && thread->block_count > 0) return (void *)thread->blocks[--thread->block_count];
    size = FWD_BLOCK_SIZE;
  }
  void *block = malloc(size);
  if (!block) abort();
  return block;
}

/// Gives back memory that `fwd_block_take(size)` returned, with the same size, on any thread. The
/// thread keeps it, or it is freed.
static inline void fwd_block_give(void *block, size_t size) {
  if (FWD_IS_CHECKED) memset(block, 0xDD, size);
  if (size <= FWD_BLOCK_SIZE) {
    FWDThread *thread = fwd_thread_or_null;
    if (thread && thread->block_count < thread->block_limit) {
      thread->blocks[thread->block_count++] = block;
      return;
    }
  }
  free(block);
}

#pragma clang assume_nonnull end
