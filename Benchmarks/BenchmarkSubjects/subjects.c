// SPDX-License-Identifier: Apache-2.0
#include "BenchmarkSubjects.h"

#include <stddef.h>
#include <string.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

static volatile int64_t sink;
static void *volatile object_sink;

// A Swift object begins with a header of two words; the first stored property follows it.
enum { SWIFT_OBJECT_HEADER = 16 };

void subject_keep_object(void *self, const void *selector, void *value) {
  (void)self, (void)selector;
  object_sink = value;
}

void subject_keep_word(void *self, const void *selector, int64_t value) {
  (void)selector;
  *(volatile int64_t *)((char *)self + SWIFT_OBJECT_HEADER) = value;
}

void subject_keep_nothing(void *self, const void *selector, int64_t value) {
  (void)self, (void)selector, (void)value;
}

void subject_keep_three(void *self, const void *selector, int64_t a, int32_t b, int64_t c) {
  (void)self, (void)selector, (void)b, (void)c;
  sink = a;
}

int32_t subject_add_integers(void *self, const void *selector, void *object, int32_t a, int32_t b) {
  (void)self, (void)selector, (void)object;
  return a + b;
}

double subject_add_doubles(void *self, const void *selector, double a, double b) {
  (void)self, (void)selector;
  return a + b;
}

SubjectRectangle subject_move(void *self, const void *selector, SubjectRectangle rectangle) {
  (void)self, (void)selector;
  rectangle.x += 1;
  return rectangle;
}

int64_t subject_add_ten(void *self, const void *selector, int64_t a, int64_t b, int64_t c,
                        int64_t d, int64_t e, int64_t f, int64_t g, int64_t h, int64_t i,
                        int64_t j) {
  (void)self, (void)selector;
  return a + b + c + d + e + f + g + h + i + j;
}

uint64_t subject_length(void *self, const void *selector, const char *text) {
  (void)self, (void)selector;
  return strlen(text);
}

static void keep_third_word(void *context, const uint64_t *frame) {
  (void)context;
  sink = (int64_t)frame[2];
}

const void *subject_handler(void) { return (const void *)keep_third_word; }

void subject_use(int64_t value) { sink = value; }

const void *subject_address(SubjectFunction function) {
  switch (function) {
    case SubjectKeepObject: return (const void *)subject_keep_object;
    case SubjectKeepWord: return (const void *)subject_keep_word;
    case SubjectKeepNothing: return (const void *)subject_keep_nothing;
    case SubjectKeepThree: return (const void *)subject_keep_three;
    case SubjectAddIntegers: return (const void *)subject_add_integers;
    case SubjectAddDoubles: return (const void *)subject_add_doubles;
    case SubjectMove: return (const void *)subject_move;
    case SubjectAddTen: return (const void *)subject_add_ten;
    case SubjectLength: return (const void *)subject_length;
  }
  return (const void *)subject_use;
}

int64_t subject_allocated_bytes(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  struct mallinfo2 all = mallinfo2();
  return (int64_t)(all.uordblks + all.hblkhd);
#else
  return -1;
#endif
}
