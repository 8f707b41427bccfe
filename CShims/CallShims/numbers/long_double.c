// SPDX-License-Identifier: Apache-2.0
#include "fwd_long_double.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The bytes that carry bits: x87 stores ten, and pads them to sixteen.
enum { FWD_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

_Static_assert(sizeof(long double) <= sizeof(FWDLongDouble), "a long double fits its bits");
_Static_assert(LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113,
               "the bits of a long double are known");

static long double number(FWDLongDouble bits) {
  long double result = 0;
  memcpy(&result, &bits, FWD_BYTES);
  return result;
}

static FWDLongDouble bits(long double number) {
  FWDLongDouble result = {0, 0};
  memcpy(&result, &number, FWD_BYTES);
  return result;
}

FWDLongDouble fwd_long_double_from_double(double number) { return bits(number); }

double fwd_long_double_to_double(FWDLongDouble a) { return (double)number(a); }

// glibc has this locale, and allocates nothing for it.
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

size_t fwd_long_double_write(FWDLongDouble a, char *text) {
  long double x = number(a);
  locale_t before = uselocale(c_locale());
  int length = 0;
  // LDBL_DIG digits write every number of so few digits, without zeros behind them, and
  // LDBL_DECIMAL_DIG digits are always enough.
  for (int digits = LDBL_DIG; digits <= LDBL_DECIMAL_DIG; digits++) {
    length = snprintf(text, FWD_LONG_DOUBLE_TEXT, "%.*Lg", digits, x);
    if (strtold(text, NULL) == x) break;
  }
  uselocale(before);
  return length > 0 && length < FWD_LONG_DOUBLE_TEXT ? (size_t)length : 0;
}

bool fwd_long_double_read(const char *text, size_t length, FWDLongDouble *result) {
  // strtold skips space, and stops at a NUL.
  if (length == 0 || text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')) return false;
  char *end = NULL;
  *result = bits(strtold_l(text, &end, c_locale()));
  return end == text + length;
}
