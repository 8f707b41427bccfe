// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
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

// The numbers of references to an object, which are 1 for an object with one strong reference: the strong
// ones hold one of the unowned, and those one of the weak. Thread-safe; outdated on return, unless the
// only reference is the caller's.
extern size_t swift_retainCount(void *object);
extern size_t swift_unownedRetainCount(void *object);
extern size_t swift_weakRetainCount(void *object);

/// Returns whether the caller's strong reference to an object is the only one, and no weak or unowned one
/// could become another.
static inline int fwd_object_is_sole(void *object) {
  return swift_retainCount(object) == 1 && swift_unownedRetainCount(object) == 1 &&
         swift_weakRetainCount(object) == 1;
}

#pragma clang assume_nonnull end
