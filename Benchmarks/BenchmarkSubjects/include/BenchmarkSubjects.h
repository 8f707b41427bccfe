// SPDX-License-Identifier: Apache-2.0
/// Functions that benchmarks call. Each does one store, so that a row measures the call itself.
#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct SubjectRectangle { double x, y, width, height; } SubjectRectangle;

void subject_keep_object(void *_Nullable self, const void *_Nullable selector,
                         void *_Nullable value);
void subject_keep_word(void *self, const void *_Nullable selector, int64_t value);
void subject_keep_nothing(void *self, const void *_Nullable selector, int64_t value);
void subject_keep_three(void *_Nullable self, const void *_Nullable selector, int64_t a, int32_t b,
                        int64_t c);
int32_t subject_add_integers(void *_Nullable self, const void *_Nullable selector,
                             void *_Nullable object, int32_t a, int32_t b);
double subject_add_doubles(void *_Nullable self, const void *_Nullable selector, double a, double b);
SubjectRectangle subject_move(void *_Nullable self, const void *_Nullable selector,
                              SubjectRectangle rectangle);
int64_t subject_add_ten(void *_Nullable self, const void *_Nullable selector, int64_t a, int64_t b,
                        int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h, int64_t i,
                        int64_t j);

uint64_t subject_length(void *_Nullable self, const void *_Nullable selector, const char *text);

/// The functions above, by name.
typedef enum __attribute__((enum_extensibility(closed))) SubjectFunction {
  SubjectKeepObject,
  SubjectKeepWord,
  SubjectKeepNothing,
  SubjectKeepThree,
  SubjectAddIntegers,
  SubjectAddDoubles,
  SubjectMove,
  SubjectAddTen,
  SubjectLength,
} SubjectFunction;

/// Returns the address of a function.
const void *subject_address(SubjectFunction function);

/// The address of a handler for a callback. It stores the third word of the frame.
const void *subject_handler(void);

/// Consumes a result of a benchmark, so that nothing is optimized away.
void subject_use(int64_t value);

/// The number of bytes that are allocated now. Negative if the system's allocator does not report
/// it.
int64_t subject_allocated_bytes(void);

#pragma clang assume_nonnull end
