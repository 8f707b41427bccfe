// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of Swift's runtime that the C core calls, for programs without Swift. An object is
// any address; one thread keeps its reference count beside it.
#include <stdint.h>

static long counts[64];

static long *count_of(const void *object) { return &counts[(uintptr_t)object & 63]; }

void *swift_unownedRetain(void *object) { return object; }
void swift_unownedRelease(void *object) { (void)object; }
void *swift_tryRetain(void *object) { return ++*count_of(object), object; }
void *swift_retain(void *object) { return ++*count_of(object), object; }
void swift_release(void *object) { --*count_of(object); }
_Bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
  return *count_of(object) == 1;
}
