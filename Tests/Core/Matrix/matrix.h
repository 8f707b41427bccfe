#pragma once

#include <stdint.h>

#include "CForwardingShims.h"

#pragma clang assume_nonnull begin

/// One signature, with functions of it that a compiler made; see `SignatureMatrix.swift`.
typedef struct CallCase {
  /// Its number in the part, or -1 behind the last one.
  int32_t index;
  const char *encoding;
  /// The result, then each argument.
  const FWDValue *values;
  size_t argument_count, fixed_count;
  /// Copies its arguments to `captured`, scribbles over them, and returns what `wanted` holds.
  void (*callee)(void);
  /// Calls a function with the arguments in `given`, and leaves its result in `returned`.
  void (*drive)(const void *function);
  /// Sets the bits that carry the value of a place, where 0 is the result.
  void (*mask)(int place, unsigned char *out);
} CallCase;

extern const CallCase call_cases[];
extern const uint64_t call_seed;

#pragma clang assume_nonnull end
