/// Asks the installed libffi to show the faults that this package avoids.
#include <dlfcn.h>

#include "fwd_plan_internal.h"

const char *fwd_libffi_path(void) {
  Dl_info info;
  return dladdr((void *)ffi_call, &info) ? info.dli_fname : NULL;
}

const char *fwd_libffi_version(void) {
  const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "ffi_get_version");
  return version ? version() : NULL;
}

#if FWD_HAS_DIRECT_ENGINE

typedef struct CharDouble { char c; double d; } CharDouble;
typedef struct OneLongDouble { long double value; } OneLongDouble;
typedef struct FourWords { uint64_t words[4]; } FourWords;

static float kept_float;

static void keep_float(void *a, void *b, int c, int d, int e, float f, CharDouble s) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)s;
  kept_float = f;
}

static uint64_t first_word(FourWords value) { return value.words[0]; }

static OneLongDouble one_long_double(void) { return (OneLongDouble){42.5L}; }

static int probe_last_register(void) {
  ffi_type *elements[] = {&ffi_type_schar, &ffi_type_double, NULL};
  ffi_type structure = {0, 0, FFI_TYPE_STRUCT, elements};
  ffi_type *types[] = {&ffi_type_pointer, &ffi_type_pointer, &ffi_type_sint, &ffi_type_sint,
                       &ffi_type_sint,    &ffi_type_float,   &structure};
  ffi_cif cif;
  if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 7, &ffi_type_void, types) != FFI_OK) return -1;
  void *nothing = NULL;
  int number = 1;
  float value = 2.5f;
  CharDouble pair = {'c', 7.25};
  void *values[] = {&nothing, &nothing, &number, &number, &number, &value, &pair};
  kept_float = 0;
  ffi_call(&cif, FFI_FN(keep_float), NULL, values);
  return kept_float != value;
}

static int probe_overwrites_pointers(void) {
  ffi_type *elements[] = {&ffi_type_uint64, &ffi_type_uint64, &ffi_type_uint64, &ffi_type_uint64,
                          NULL};
  ffi_type structure = {0, 0, FFI_TYPE_STRUCT, elements};
  ffi_type *types[] = {&structure};
  ffi_cif cif;
  if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 1, &ffi_type_uint64, types) != FFI_OK) return -1;
  FourWords argument = {{1, 2, 3, 4}};
  void *values[] = {&argument};
  uint64_t result;
  ffi_call(&cif, FFI_FN(first_word), &result, values);
  return values[0] != (void *)&argument;
}

static int probe_long_double_structure(void) {
  ffi_type *elements[] = {&ffi_type_longdouble, NULL};
  ffi_type structure = {0, 0, FFI_TYPE_STRUCT, elements};
  ffi_cif cif;
  if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 0, &structure, NULL) != FFI_OK) return -1;
  OneLongDouble result[2] = {{0}, {0}};
  ffi_call(&cif, FFI_FN(one_long_double), result, NULL);
  return result[0].value != 42.5L;
}

static int probe_accepts_void(void) {
  ffi_type *types[] = {&ffi_type_void};
  ffi_cif cif;
  return ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 1, &ffi_type_void, types) == FFI_OK;
}

int fwd_probe_libffi(FWDLibffiFault fault) {
  switch (fault) {
    case FWDLibffiFaultLastRegister: return probe_last_register();
    case FWDLibffiFaultOverwritesPointers: return probe_overwrites_pointers();
    case FWDLibffiFaultLongDoubleStructure: return probe_long_double_structure();
    case FWDLibffiFaultAcceptsVoid: return probe_accepts_void();
  }
  return -1;
}

#else

int fwd_probe_libffi(FWDLibffiFault fault) {
  (void)fault;
  return -1;
}

#endif
