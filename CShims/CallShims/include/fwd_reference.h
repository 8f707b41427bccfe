#pragma once

#include <stdint.h>

// An object of Objective-C is not counted by these functions, so they would corrupt it.
#if defined(__APPLE__)
#error "swift-forwarding does not know the objects of Objective-C yet"
#endif

#pragma clang assume_nonnull begin

// References to Swift objects that do not keep them alive.
//
// A `weak` variable costs more at each load, and makes every later retain of its object slower for
// ever. The runtime's unowned count, which `unowned` variables use, keeps only the dead object's
// memory, all of it, until the last such reference is gone; trying to retain returns NULL once the
// object has begun to die. That is the meaning of `weak`, for two locked instructions.

_Static_assert(sizeof(void *) == sizeof(uint64_t), "an object begins with its class, in one word");

// Entry points of the Swift runtime that compiled code calls, from any thread. Each `retain` is given
// back by one `release` of its kind. The last `swift_release` runs a `deinit`: no lock may be held.
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern void *_Nullable swift_tryRetain(void *object);
extern void *swift_retain(void *object);
extern void swift_release(void *object);

/// Returns the word behind an object's class, in which the runtime counts references. A weak reference,
/// or more than one strong one, shows in it, which `SoleReference` tries once. The caller keeps the object's
/// memory; the answer is good to be compared with that of another moment.
static inline uint64_t fwd_object_references(const void *object) {
  return __atomic_load_n((const uint64_t *)object + 1, __ATOMIC_ACQUIRE);
}

#pragma clang assume_nonnull end
