#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

// What a call loads before it jumps, and what it stores afterwards: few shapes serve every signature, as
// more than the callee looks at is harmless.

#if FWD_ABI_AAPCS64

/// How a result comes back.
typedef enum __attribute__((enum_extensibility(closed))) FWDReturnShape : uint8_t {
  FWDReturnNothing = 0,
  /// Up to two words.
  FWDReturnIntegers,
  /// Up to four of `double`, or one `float`.
  FWDReturnVectors,
  /// Up to four of `float`, each in a register of its own.
  FWDReturnFloats,
  /// Up to four of `long double`.
  FWDReturnQuads,
  /// In memory, whose address the call passes beside the arguments.
  FWDReturnIndirect,
} FWDReturnShape;

/// How much a call loads before it jumps.
typedef enum __attribute__((enum_extensibility(closed))) FWDArgumentShape : uint8_t {
  FWDArgumentsIntegers = 0,
  FWDArgumentsVectors2,
  FWDArgumentsVectors8,
  FWDArgumentsStack4,
  FWDArgumentsStack8,
  FWDArgumentsStack16,
  // More stack words than that, however many.
  FWDArgumentsLarge,
  // Vector registers as a whole, for quads, and any number of stack words.
  FWDArgumentsWide,
  // One of those above, once some values are brought to where the registers are loaded from.
  FWDArgumentsMoved,
} FWDArgumentShape;

_Static_assert((FWDReturnIndirect << 4 | FWDArgumentsMoved) < FWD_SHAPE_OF_LIBFFI,
               "every shape has a place in the table, and libffi's has none");

/// Returns how many stack words a shape copies, whether the callee looks at them or not; a frame has
/// room for that many. It is 0 for a call that copies those that are passed.
static inline uint32_t fwd_stack_words(FWDArgumentShape shape) {
  switch (shape) {
    case FWDArgumentsIntegers:
    case FWDArgumentsVectors2:
    case FWDArgumentsVectors8:
    case FWDArgumentsLarge:
    case FWDArgumentsWide:
    case FWDArgumentsMoved: return 0;
    case FWDArgumentsStack4: return 4;
    case FWDArgumentsStack8: return 8;
    case FWDArgumentsStack16: return 16;
  }
  return 0;
}

#define FWD_OTHER_INTEGERS(f) f->integers[1], f->integers[2], f->integers[3], f->integers[4], \
                              f->integers[5], f->integers[6], f->integers[7]
#define FWD_INTEGER_TYPES \
  uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t

#else

/// How a result comes back in registers.
typedef enum __attribute__((enum_extensibility(closed))) FWDReturnShape : uint8_t {
  FWDReturnNothing = 0,
  FWDReturnIntegers,
  FWDReturnVectors,
  FWDReturnIntegerVector,
  FWDReturnVectorInteger,
  FWDReturnX87,
  FWDReturnComplexX87,
} FWDReturnShape;

/// How much a call loads before it jumps. More than the callee looks at is harmless under the
/// System V ABI, so a few shapes serve every signature.
typedef enum __attribute__((enum_extensibility(closed))) FWDArgumentShape : uint8_t {
  FWDArgumentsIntegers = 0,
  FWDArgumentsVectors2,
  FWDArgumentsVectors8,
  FWDArgumentsStack4,
  FWDArgumentsStack8,
  FWDArgumentsStack16,
  FWDArgumentsStack32,
  FWDArgumentsStack64,
  // More stack words than that, however many.
  FWDArgumentsLarge,
  // The same amounts, without vector registers.
  FWDArgumentsIntegersStack4,
  FWDArgumentsIntegersStack8,
} FWDArgumentShape;

_Static_assert(FWDArgumentsIntegersStack8 < 16, "an amount of arguments takes four bits");
_Static_assert((FWDReturnComplexX87 << 4 | FWDArgumentsIntegersStack8) < FWD_SHAPE_OF_LIBFFI,
               "every shape has a place in the table, and libffi's has none");

/// Returns how many stack words a shape copies, whether the callee looks at them or not; a frame has
/// room for that many. It is 0 for a large call, which copies those that are passed.
static inline uint32_t fwd_stack_words(FWDArgumentShape shape) {
  switch (shape) {
    case FWDArgumentsIntegers:
    case FWDArgumentsVectors2:
    case FWDArgumentsVectors8:
    case FWDArgumentsLarge: return 0;
    case FWDArgumentsStack4:
    case FWDArgumentsIntegersStack4: return 4;
    case FWDArgumentsStack8:
    case FWDArgumentsIntegersStack8: return 8;
    case FWDArgumentsStack16: return 16;
    case FWDArgumentsStack32: return 32;
    case FWDArgumentsStack64: return 64;
  }
  return 0;
}

#define FWD_OTHER_INTEGERS(f) f->integers[1], f->integers[2], f->integers[3], f->integers[4], \
                              f->integers[5]
#define FWD_INTEGER_TYPES uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t

#endif

/// Returns the shape of a call as one byte: the result in the high four bits, the arguments in the
/// low four. A shape says what a call loads and stores; many signatures share one.
static inline uint8_t fwd_shape(FWDReturnShape result, FWDArgumentShape arguments) {
  return (uint8_t)(result << 4 | arguments);
}

/// All integer registers of a frame, and their types.
#define FWD_INTEGERS(f) f->integers[0], FWD_OTHER_INTEGERS(f)

typedef struct FWDIntegerPair { uint64_t first, second; } FWDIntegerPair;

// ISO C leaves a call through a cast pointer undefined; the ABI of each machine here defines it. The
// sanitizer that checks such casts is told so.
#define FWD_SHAPE_CALL static inline __attribute__((no_sanitize("function")))

#define FWD_SHAPE(result, arguments) (FWDReturn##result << 4 | FWDArguments##arguments)

#pragma clang assume_nonnull end
