// SPDX-License-Identifier: Apache-2.0
#include <ffi.h>
#include <stdint.h>
#include <string.h>

#include "PeerC.h"

// The same functions that the package's own rows call.
typedef struct Rectangle { double x, y, width, height; } Rectangle;
extern void subject_keep_object(void *, const void *, void *);
extern void subject_keep_three(void *, const void *, int64_t, int32_t, int64_t);
extern int32_t subject_add_integers(void *, const void *, void *, int32_t, int32_t);
extern double subject_add_doubles(void *, const void *, double, double);
extern Rectangle subject_move(void *, const void *, Rectangle);
extern int64_t subject_add_ten(void *, const void *, int64_t, int64_t, int64_t, int64_t, int64_t,
                               int64_t, int64_t, int64_t, int64_t, int64_t);
extern void subject_use(int64_t);

static void *object = &object;

void peer_ffi_object(long count) {
  ffi_cif cif;
  ffi_type *types[] = {&ffi_type_pointer, &ffi_type_pointer, &ffi_type_pointer};
  ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 3, &ffi_type_void, types);
  void *values[] = {&object, &object, &object};
  for (long i = 0; i < count; i++) ffi_call(&cif, FFI_FN(subject_keep_object), NULL, values);
}

void peer_ffi_three(long count) {
  ffi_cif cif;
  ffi_type *types[] = {&ffi_type_pointer, &ffi_type_pointer, &ffi_type_sint64, &ffi_type_sint32,
                       &ffi_type_sint64};
  ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 5, &ffi_type_void, types);
  int64_t a, c;
  int32_t b;
  void *values[] = {&object, &object, &a, &b, &c};
  for (long i = 0; i < count; i++) {
    a = i, b = 7, c = i;
    ffi_call(&cif, FFI_FN(subject_keep_three), NULL, values);
  }
}

void peer_ffi_integers(long count) {
  ffi_cif cif;
  ffi_type *types[] = {&ffi_type_pointer, &ffi_type_pointer, &ffi_type_pointer, &ffi_type_sint32,
                       &ffi_type_sint32};
  ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 5, &ffi_type_sint32, types);
  int32_t a, b;
  int64_t sum = 0;
  void *values[] = {&object, &object, &object, &a, &b};
  for (long i = 0; i < count; i++) {
    ffi_arg result;
    a = (int32_t)i, b = 7;
    ffi_call(&cif, FFI_FN(subject_add_integers), &result, values);
    sum += (int32_t)result;
  }
  subject_use(sum);
}

void peer_ffi_doubles(long count) {
  ffi_cif cif;
  ffi_type *types[] = {&ffi_type_pointer, &ffi_type_pointer, &ffi_type_double, &ffi_type_double};
  ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 4, &ffi_type_double, types);
  double a, b, sum = 0;
  void *values[] = {&object, &object, &a, &b};
  for (long i = 0; i < count; i++) {
    double result;
    a = (double)i, b = 7;
    ffi_call(&cif, FFI_FN(subject_add_doubles), &result, values);
    sum += result;
  }
  subject_use((int64_t)sum);
}

void peer_ffi_rectangle(long count) {
  ffi_cif cif;
  ffi_type *members[] = {&ffi_type_double, &ffi_type_double, &ffi_type_double, &ffi_type_double,
                         NULL};
  ffi_type rectangle = {0, 0, FFI_TYPE_STRUCT, members};
  ffi_type *types[] = {&ffi_type_pointer, &ffi_type_pointer, &rectangle};
  ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 3, &rectangle, types);
  Rectangle value = {1, 2, 3, 4}, result;
  for (long i = 0; i < count; i++) {
    void *values[] = {&object, &object, &value};
    ffi_call(&cif, FFI_FN(subject_move), &result, values);
    value = result;
  }
  subject_use((int64_t)value.x);
}

void peer_ffi_ten(long count) {
  ffi_cif cif;
  ffi_type *types[12] = {&ffi_type_pointer, &ffi_type_pointer};
  int64_t numbers[10];
  void *values[12] = {&object, &object};
  for (int i = 0; i < 10; i++) {
    types[i + 2] = &ffi_type_sint64;
    values[i + 2] = &numbers[i];
    numbers[i] = i;
  }
  ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 12, &ffi_type_sint64, types);
  int64_t sum = 0;
  for (long i = 0; i < count; i++) {
    ffi_arg result;
    numbers[0] = i;
    ffi_call(&cif, FFI_FN(subject_add_ten), &result, values);
    sum += (int64_t)result;
  }
  subject_use(sum);
}

static void answer(ffi_cif *cif, void *result, void **values, void *user) {
  (void)cif, (void)result;
  *(void *volatile *)user = *(void **)values[2];
}

void peer_ffi_closure(long count) {
  static ffi_cif cif;
  static ffi_type *types[] = {&ffi_type_pointer, &ffi_type_pointer, &ffi_type_pointer};
  static void (*function)(void *, void *, void *);
  static void *kept;
  if (!function) {
    void *code;
    ffi_closure *closure = ffi_closure_alloc(sizeof *closure, &code);
    ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 3, &ffi_type_void, types);
    ffi_prep_closure_loc(closure, &cif, answer, &kept, code);
    memcpy(&function, &code, sizeof function);
  }
  for (long i = 0; i < count; i++) function(object, object, object);
}

static void answer_three(ffi_cif *cif, void *result, void **values, void *user) {
  (void)cif, (void)result;
  *(volatile int64_t *)user = *(int64_t *)values[0] + *(int32_t *)values[1] + *(int64_t *)values[2];
}

void peer_ffi_closure_three(long count) {
  static ffi_cif cif;
  static ffi_type *types[] = {&ffi_type_sint64, &ffi_type_sint32, &ffi_type_sint64};
  static void (*function)(int64_t, int32_t, int64_t);
  static int64_t kept;
  if (!function) {
    void *code;
    ffi_closure *closure = ffi_closure_alloc(sizeof *closure, &code);
    ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 3, &ffi_type_void, types);
    ffi_prep_closure_loc(closure, &cif, answer_three, &kept, code);
    memcpy(&function, &code, sizeof function);
  }
  for (long i = 0; i < count; i++) function(i, 2, 3);
}
