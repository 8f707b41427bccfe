// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

// These functions do not count references to Objective-C objects, and would corrupt such an object.
#if defined(__APPLE__)
#error "swift-forwarding does not know the objects of Objective-C yet"
#endif

#pragma clang assume_nonnull begin

// References to Swift objects that do not retain them.
//
// A `weak` variable is slower to load, and makes every later retain of its object slower. The
// runtime's unowned count, which `unowned` variables use, preserves only the memory of a dead
// object, all of it, until the last such reference is released. A try to retain the object returns
// NULL once its deinitialization has begun. That is the behavior of `weak`, for two locked
// instructions.

_Static_assert(sizeof(void *) == sizeof(uint64_t), "an object begins with its class, in one word");

// Entry points of the Swift runtime that compiled code calls. Thread-safe. Each `retain` is
// balanced by one `release` of its kind. The last `swift_release` runs `deinit`: the caller must
// hold no lock.
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern void *_Nullable swift_tryRetain(void *object);
extern void *swift_retain(void *object);
extern void swift_release(void *object);

// Returns whether the deinitialization of an object has begun. Thread-safe; the answer may be
// outdated on return. The caller retains the memory of the object.
extern _Bool swift_isDeallocating(void *object);

/// Returns the word behind an object's class, in which the runtime counts references. A weak
/// reference, or a second strong one, changes it, which `SoleReference` tests once. The caller
/// retains the object's memory. The word may only be compared with one read at another time.
static inline uint64_t fwd_object_references(const void *object) {
  return __atomic_load_n((const uint64_t *)object + 1, __ATOMIC_ACQUIRE);
}

#pragma clang assume_nonnull end
