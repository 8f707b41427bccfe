// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

// The registers and stack words that a call loads before it jumps, and those that it stores
// afterwards. A few shapes serve every signature, because loading more than the callee reads is
// harmless.

#if FWD_ABI_AAPCS64

/// How a result is returned.
typedef enum __attribute__((enum_extensibility(closed))) FWDReturnShape : uint8_t {
  FWDReturnNothing = 0,
  /// Up to two words.
  FWDReturnIntegers,
  /// Up to four `double`, or one `float`.
  FWDReturnVectors,
  /// Up to four `float`, each in a register of its own.
  FWDReturnFloats,
  /// Up to four `long double`.
  FWDReturnQuads,
  /// In memory; the call passes the address beside the arguments.
  FWDReturnIndirect,
} FWDReturnShape;

/// How much a call loads before it jumps.
typedef enum __attribute__((enum_extensibility(closed))) FWDArgumentShape : uint8_t {
  FWDArgumentsIntegers = 0,
  FWDArgumentsVectors,
  // Any number of stack words.
  FWDArgumentsStack,
  // One of the above, after values that are passed by address were copied.
  FWDArgumentsCopied,
} FWDArgumentShape;

#define FWD_OTHER_INTEGERS(f) f->integers[1], f->integers[2], f->integers[3], f->integers[4], \
                              f->integers[5], f->integers[6], f->integers[7]
#define FWD_INTEGER_TYPES \
  uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t

#else

/// How a result is returned in registers.
typedef enum __attribute__((enum_extensibility(closed))) FWDReturnShape : uint8_t {
  FWDReturnNothing = 0,
  FWDReturnIntegers,
  FWDReturnVectors,
  FWDReturnIntegerVector,
  FWDReturnVectorInteger,
  FWDReturnX87,
  FWDReturnComplexX87,
} FWDReturnShape;

/// How much a call loads before it jumps. Loading more than the callee reads is harmless under the
/// System V ABI, so a few shapes serve every signature.
typedef enum __attribute__((enum_extensibility(closed))) FWDArgumentShape : uint8_t {
  FWDArgumentsIntegers = 0,
  FWDArgumentsVectors,
  // Any number of stack words, and the number of vector registers, for variadic functions.
  FWDArgumentsStack,
} FWDArgumentShape;

#define FWD_OTHER_INTEGERS(f) f->integers[1], f->integers[2], f->integers[3], f->integers[4], \
                              f->integers[5]
#define FWD_INTEGER_TYPES uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t

#endif

/// Returns the shape of a call as one byte: the result in the high four bits, the arguments in the
/// low four. Many signatures share one shape.
static inline uint8_t fwd_shape(FWDReturnShape result, FWDArgumentShape arguments) {
  return (uint8_t)(result << 4 | arguments);
}

/// All integer registers of a frame, and their types.
#define FWD_INTEGERS(f) f->integers[0], FWD_OTHER_INTEGERS(f)

typedef struct FWDIntegerPair { uint64_t first, second; } FWDIntegerPair;

// A call through a cast function pointer is undefined in ISO C, but defined by the ABIs here. The
// attribute suppresses the sanitizer that checks such casts.
#define FWD_SHAPE_CALL static inline __attribute__((no_sanitize("function")))

#define FWD_SHAPE(result, arguments) (FWDReturn##result << 4 | FWDArguments##arguments)

#pragma clang assume_nonnull end
