// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// Arithmetic of C's `long double`, for Swift, whose `Float80` exists on x86 only. C knows the type
// on every machine: 80 bits of x87, a quad of AArch64, or a double of Apple's AArch64.

/// The bits of a `long double`. The bits behind its last one are zero in each result, and ignored
/// in each argument.
typedef struct FWDLongDouble {
  uint64_t low;
  uint64_t high;
} FWDLongDouble;

enum {
  /// The bits of a significand without its leading bit.
  FWD_LONG_DOUBLE_SIGNIFICAND_BITS = LDBL_MANT_DIG - 1,
  /// The bits of an exponent.
  FWD_LONG_DOUBLE_EXPONENT_BITS = LDBL_MAX_EXP == 16384 ? 15 : 11,
  /// The number of bits for the leading bit of a significand, which only x87 stores.
  FWD_LONG_DOUBLE_LEADING_BITS = LDBL_MANT_DIG == 64,
};

/// Arithmetic of two numbers, rounded to the nearest number, or to the even one of two as near. Each
/// depends on the rounding mode of the thread as any code of C does.
FWDLongDouble fwd_long_double_add(FWDLongDouble a, FWDLongDouble b);
FWDLongDouble fwd_long_double_subtract(FWDLongDouble a, FWDLongDouble b);
FWDLongDouble fwd_long_double_multiply(FWDLongDouble a, FWDLongDouble b);
FWDLongDouble fwd_long_double_divide(FWDLongDouble a, FWDLongDouble b);

/// The remainder of a division whose quotient is rounded to the nearest integer, and the remainder
/// of one whose quotient is truncated. Both are exact; a division by zero gives a NaN.
FWDLongDouble fwd_long_double_remainder(FWDLongDouble a, FWDLongDouble b);
FWDLongDouble fwd_long_double_truncating_remainder(FWDLongDouble a, FWDLongDouble b);

/// The square root; a * b + c, rounded once; and a * 2^power, rounded once. A negative number has
/// a NaN for its root.
FWDLongDouble fwd_long_double_square_root(FWDLongDouble a);
FWDLongDouble fwd_long_double_multiply_add(FWDLongDouble a, FWDLongDouble b, FWDLongDouble c);
FWDLongDouble fwd_long_double_scale(FWDLongDouble a, int32_t power);

/// Returns the next number towards infinity; infinity itself has none, and stays. A NaN stays a
/// NaN.
FWDLongDouble fwd_long_double_next_up(FWDLongDouble a);

typedef enum __attribute__((enum_extensibility(closed))) FWDRounding : uint8_t {
  FWDRoundingToNearestOrAwayFromZero = 0,
  FWDRoundingToNearestOrEven,
  FWDRoundingUp,
  FWDRoundingDown,
  FWDRoundingTowardZero,
  FWDRoundingAwayFromZero,
} FWDRounding;

/// Rounds to an integer, by one of the rules, whatever the rounding mode of the thread is. A result of
/// zero has the sign of the number.
FWDLongDouble fwd_long_double_round(FWDLongDouble a, FWDRounding rounding);

typedef enum __attribute__((enum_extensibility(closed))) FWDOrder : uint8_t {
  FWDOrderEqual = 0,
  FWDOrderLess,
  FWDOrderGreater,
  /// One of the numbers is a NaN.
  FWDOrderNone,
} FWDOrder;

/// Compares two numbers; zeros of either sign are equal. Only a NaN has no order with another number,
/// or with itself.
FWDOrder fwd_long_double_order(FWDLongDouble a, FWDLongDouble b);

/// Converts a `double`, which a `long double` represents exactly, and converts to the nearest `double`,
/// which is infinite for a number beyond its range.
FWDLongDouble fwd_long_double_from_double(double number);
double fwd_long_double_to_double(FWDLongDouble a);

/// Room for the text of a number, with its terminator.
#define FWD_LONG_DOUBLE_TEXT 64

/// Writes a finite number in the fewest decimal digits that read back as the same number, as
/// `-1.25e+02` in every locale, and returns the length of the text.
size_t fwd_long_double_write(FWDLongDouble a, char *text);

/// Reads the nearest number to a text, which `strtold` of the C locale must accept as a whole, without
/// space in front. Returns false for another text.
bool fwd_long_double_read(const char *text, size_t length, FWDLongDouble *result);

#pragma clang assume_nonnull end
