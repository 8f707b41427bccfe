// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// C's `long double` as bits, for Swift, whose `Float80` exists on x86 only. C knows the type on every
// machine: 80 bits of x87, or a quad of AArch64.

/// The bits of a `long double`. The bits behind its last one are zero in each result, and ignored
/// in each argument.
typedef struct FWDLongDouble {
  uint64_t low;
  uint64_t high;
} FWDLongDouble;

enum {
  /// The bits of the format, and those of its significand with the leading one.
  FWD_LONG_DOUBLE_BITS = LDBL_MANT_DIG == 64 ? 80 : 8 * sizeof(long double),
  FWD_LONG_DOUBLE_SIGNIFICAND_BITS = LDBL_MANT_DIG,
};

/// Converts a `double`, which a `long double` represents exactly, and converts to the nearest `double`,
/// which is infinite for a number beyond its range.
FWDLongDouble fwd_long_double_from_double(double number);
double fwd_long_double_to_double(FWDLongDouble a);

/// Room for the text of a number, with its terminator.
#define FWD_LONG_DOUBLE_TEXT 64

/// Writes a number in the fewest decimal digits that read back as the same number, as `%Lg` does in
/// the C locale, and returns the length of the text.
size_t fwd_long_double_write(FWDLongDouble a, char *text);

/// Reads the nearest number to a text, which `strtold` of the C locale must accept as a whole, without
/// space in front. Returns false, with any number, for another text.
bool fwd_long_double_read(const char *text, size_t length, FWDLongDouble *result);

#pragma clang assume_nonnull end
