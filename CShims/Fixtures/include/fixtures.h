/// C functions for the tests, compiled by the real compiler. Methods take a receiver and a
/// selector first. What the importer of Swift does not know (complex numbers, unions by value) is
/// reached by address.
#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct FixturePoint { double x, y; } FixturePoint;
typedef struct FixtureRectangle { FixturePoint origin, size; } FixtureRectangle;
typedef struct FixtureMixed { int32_t number; double value; } FixtureMixed;
typedef struct FixtureTail { int32_t number; char letter; } FixtureTail;

/// A C function by name, with the encoding that its declaration has.
typedef struct Fixture {
  const char *name;
  const char *encoding;
  const void *function;
} Fixture;

/// How many fixtures there are, and each of them.
long fixture_count(void);
Fixture fixture_at(long index);

/// How often a method without arguments was called.
extern int fixture_calls(void);

/// A function whose encoding must be wrong to be called: never is.
void fixture_never(void);

#pragma clang assume_nonnull end
