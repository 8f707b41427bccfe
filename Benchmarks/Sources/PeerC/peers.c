// SPDX-License-Identifier: Apache-2.0
#include <ffi.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "PeerC.h"

static volatile double sum;

void peer_ffi_call(long count) {
  ffi_cif cif;
  ffi_type *types[] = {&ffi_type_double, &ffi_type_double};
  ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 2, &ffi_type_double, types);
  double base = 1.5, exponent, result, total = 0;
  void *values[] = {&base, &exponent};
  for (long i = 0; i < count; i++) {
    exponent = (double)(i & 15);
    ffi_call(&cif, FFI_FN(pow), &result, values);
    total += result;
  }
  sum = total;
}

static const int numbers[8] = {5, 2, 7, 1, 8, 3, 6, 4};

// Volatile: what a closure keeps is read at each call.
static volatile int64_t kept = 1;
static volatile double fraction = 0.5;
int64_t peer_add_two(int64_t one, int64_t other) { return one + other + kept; }
double peer_add_doubles(double one, double other) { return one + other + fraction; }
int64_t peer_add_pair(peer_pair pair) { return pair.one + pair.other + kept; }

#define LOOP(name, type, ...) \
  void name(long count, type function) { for (long i = 0; i < count; i++) function(__VA_ARGS__); }
LOOP(peer_loop_two, peer_two, i, 2)
LOOP(peer_loop_doubles, peer_doubles, (double)i, 2)
LOOP(peer_loop_pointers, peer_pointers, &numbers[i & 7], &numbers[2])
LOOP(peer_loop_pair, peer_of_pair, (peer_pair){i, 2})

static void answer(ffi_cif *cif, void *result, void **values, void *user) {
  (void)cif;
  *(int64_t *)result = *(int64_t *)values[0] + *(int64_t *)values[1] + *(volatile int64_t *)user;
}

peer_two peer_ffi_closure(void) {
  static ffi_cif cif;
  static ffi_type *types[] = {&ffi_type_sint64, &ffi_type_sint64};
  void *code = NULL;
  ffi_closure *closure = ffi_closure_alloc(sizeof *closure, &code);
  ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 2, &ffi_type_sint64, types);
  ffi_prep_closure_loc(closure, &cif, answer, (void *)&kept, code);
  peer_two function;
  memcpy(&function, &code, sizeof function);
  return function;
}

#if HAS_FFCALL
#include <callback.h>

static void answer_list(void *data, va_alist list) {
  va_start_long(list);
  long one = va_arg_long(list), other = va_arg_long(list);
  va_return_long(list, one + other + *(volatile int64_t *)data);
}

peer_two peer_ffcall_closure(void) { return (peer_two)alloc_callback(answer_list, (void *)&kept); }
#else
peer_two peer_ffcall_closure(void) { return NULL; }
#endif

void peer_sort(long count, int (*compare)(const void *, const void *)) {
  for (long i = 0; i < count; i++) {
    int sorted[8];
    memcpy(sorted, numbers, sizeof sorted);
    qsort(sorted, 8, sizeof *sorted, compare);
    if (sorted[0] != 1 || sorted[7] != 8) abort();
  }
}

int peer_compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
