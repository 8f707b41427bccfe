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

static void answer(ffi_cif *cif, void *result, void **values, void *user) {
  (void)cif, (void)result;
  *(volatile int64_t *)user += *(int64_t *)values[0] + *(int64_t *)values[1];
}

void peer_ffi_closure(long count) {
  static ffi_cif cif;
  static ffi_type *types[] = {&ffi_type_sint64, &ffi_type_sint64};
  static void (*function)(int64_t, int64_t);
  static int64_t kept;
  if (!function) {
    void *code;
    ffi_closure *closure = ffi_closure_alloc(sizeof *closure, &code);
    ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 2, &ffi_type_void, types);
    ffi_prep_closure_loc(closure, &cif, answer, &kept, code);
    memcpy(&function, &code, sizeof function);
  }
  for (long i = 0; i < count; i++) function(i, 2);
}

void peer_sort(long count, int (*compare)(const void *, const void *)) {
  static const int numbers[8] = {5, 2, 7, 1, 8, 3, 6, 4};
  for (long i = 0; i < count; i++) {
    int sorted[8];
    memcpy(sorted, numbers, sizeof sorted);
    qsort(sorted, 8, sizeof *sorted, compare);
    if (sorted[0] != 1 || sorted[7] != 8) abort();
  }
}

int peer_compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
