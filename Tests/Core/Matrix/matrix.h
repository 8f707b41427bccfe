// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#include "CForwardingShims.h"

#pragma clang assume_nonnull begin

/// One signature, with functions that a compiler made for it; see `SignatureMatrix.swift`.
typedef struct CallCase {
  /// The number in the part, or -1 after the last one.
  int32_t index;
  const char *encoding;
  /// The result, then each argument.
  const FWDValue *values;
  size_t argument_count, fixed_count;
  /// Copies its arguments to `captured`, overwrites them, and returns the contents of `wanted`.
  void (*callee)(void);
  /// Calls a function with the arguments in `given`, and leaves its result in `returned`.
  void (*drive)(const void *function);
  /// Sets the bits that carry the value of a place; place 0 is the result.
  void (*mask)(int place, unsigned char *out);
} CallCase;

extern const CallCase call_cases[];
extern const uint64_t call_seed;

#pragma clang assume_nonnull end
