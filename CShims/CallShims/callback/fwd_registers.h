// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

// The argument registers of a call, which a Swift function takes in the same order: six integers, as
// many as both processors have, and eight vectors.
#define REGISTERS                                                                                   \
  uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3, uint64_t i4, uint64_t i5, double v0, double v1, \
      double v2, double v3, double v4, double v5, double v6, double v7
#define PASSED i0, i1, i2, i3, i4, i5, v0, v1, v2, v3, v4, v5, v6, v7

/// The registers of a result. A Swift function returns them where C looks for an integer, a floating
/// point number, or a structure of two of them.
typedef struct Returned {
  uint64_t first, second;
  double first_vector, second_vector;
} Returned;

/// A closure of Swift that may throw.
typedef __attribute__((swiftcall)) Returned (*DirectBody)(
    REGISTERS, __attribute__((swift_context)) const void *context,
    __attribute__((swift_error_result)) void **error);

/// A closure of Swift that does not throw.
typedef __attribute__((swiftcall)) Returned (*ScopedBody)(
    REGISTERS, __attribute__((swift_context)) const void *context);
