// SPDX-License-Identifier: Apache-2.0
/// Tests the installed libffi for the faults that this package works around.
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

static uint64_t low_half(uint64_t first, __int128 second) {
  (void)first;
  return (uint64_t)second;
}

typedef struct ThreeWords { uint64_t words[3]; } ThreeWords;

// The address of the last copy lies behind the space that libffi reserves on AArch64.
static uint64_t last_of_nine(uint64_t a, ThreeWords b, ThreeWords c, ThreeWords d, ThreeWords e,
                             ThreeWords f, ThreeWords g, ThreeWords h, ThreeWords i, ThreeWords j) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i;
  return j.words[0] ^ j.words[1] ^ j.words[2];
}

// Not inlined: the optimizer would remove a store that is never read.
__attribute__((noinline)) static void write_over(FourWords *words) {
  *(volatile uint64_t *)&words->words[0] = 9;
}

static void change_words(FourWords value) { write_over(&value); }

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

static int probe_odd_register(void) {
  ffi_type *elements[] = {&ffi_type_uint64, NULL};
  ffi_type pair = {16, 16, FFI_TYPE_STRUCT, elements};
  ffi_type *types[] = {&ffi_type_uint64, &pair};
  ffi_cif cif;
  if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 2, &ffi_type_uint64, types) != FFI_OK) return -1;
  uint64_t first = 1, result = 0;
  __int128 second = 2;
  void *values[] = {&first, &second};
  ffi_call(&cif, FFI_FN(low_half), &result, values);
  return result != 2;
}

// The word too many lies where the call in libffi stores the address of its own frame, so the only
// effect is that a wrong value is read from there.
static int probe_stack_room(void) {
  if (!FWD_PASSES_BY_AAPCS64) return -1;
  ffi_type *elements[] = {&ffi_type_uint64, &ffi_type_uint64, &ffi_type_uint64, NULL};
  ffi_type structure = {0, 0, FFI_TYPE_STRUCT, elements};
  ffi_type *types[10];
  void *values[10];
  uint64_t word = 7, result = 0;
  ThreeWords argument = {{1, 2, 4}};
  for (int i = 0; i < 10; i++) {
    types[i] = i ? &structure : &ffi_type_uint64;
    values[i] = i ? (void *)&argument : &word;
  }
  ffi_cif cif;
  if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 10, &ffi_type_uint64, types) != FFI_OK) return -1;
  ffi_call(&cif, FFI_FN(last_of_nine), &result, values);
  return result != 7;
}

static int probe_passes_original(void) {
  ffi_type *elements[] = {&ffi_type_uint64, &ffi_type_uint64, &ffi_type_uint64, &ffi_type_uint64,
                          NULL};
  ffi_type structure = {0, 0, FFI_TYPE_STRUCT, elements};
  ffi_type *types[] = {&structure};
  ffi_cif cif;
  if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 1, &ffi_type_void, types) != FFI_OK) return -1;
  FourWords argument = {{1, 2, 3, 4}};
  void *values[] = {&argument};
  ffi_call(&cif, FFI_FN(change_words), NULL, values);
  return argument.words[0] != 1;
}

int fwd_probe_libffi(FWDLibffiFault fault) {
  switch (fault) {
    case FWDLibffiFaultLastRegister: return probe_last_register();
    case FWDLibffiFaultOverwritesPointers: return probe_overwrites_pointers();
    case FWDLibffiFaultLongDoubleStructure: return probe_long_double_structure();
    case FWDLibffiFaultAcceptsVoid: return probe_accepts_void();
    case FWDLibffiFaultOddRegister: return probe_odd_register();
    case FWDLibffiFaultStackRoom: return probe_stack_room();
    case FWDLibffiFaultPassesOriginal: return probe_passes_original();
  }
  return -1;
}

#else

int fwd_probe_libffi(FWDLibffiFault fault) {
  (void)fault;
  return -1;
}

#endif

typedef struct SampleRectangle { double x, y, width, height; } SampleRectangle;
typedef struct SampleLong { long double value; } SampleLong;
typedef struct SampleMixed { int number; double value; } SampleMixed;
typedef struct SamplePair { char c; double d; } SamplePair;
typedef union SampleUnion { float f; int i; } SampleUnion;

// Every sample is a method: its first parameters are an object and a selector, which it ignores.
#define HIDDEN void *self, void *selector
#define UNUSED (void)self, (void)selector

static int sample_sum(HIDDEN, int a, int b) { return UNUSED, a + b; }

static float sample_last_register(HIDDEN, int a, int b, int c, float f, SamplePair p) {
  return UNUSED, (void)a, (void)b, (void)c, (void)p, f;
}

static SampleRectangle sample_rectangle(HIDDEN, SampleRectangle r) { return UNUSED, r; }

static SampleLong sample_long_double(HIDDEN, long double value) {
  return UNUSED, (SampleLong){value};
}

static SampleMixed sample_mixed(HIDDEN, SampleMixed m) { return UNUSED, m; }

static double _Complex sample_complex(HIDDEN, double _Complex z) { return UNUSED, z; }

static SampleUnion sample_union(HIDDEN, SampleUnion u) { return UNUSED, u; }

static int64_t sample_tenth(HIDDEN, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e,
                            int64_t f, int64_t g, int64_t h, int64_t i, int64_t j) {
  return UNUSED, (void)(a + b + c + d + e + f + g + h + i), j;
}

FWDSample fwd_sample(FWDSampleName name) {
  switch (name) {
    case FWDSampleNameSum: return (FWDSample){(void *)sample_sum, "i@:ii"};
    case FWDSampleNameLastRegister:
      return (FWDSample){(void *)sample_last_register, "f@:iiif{P=cd}"};
    case FWDSampleNameRectangle:
      return (FWDSample){(void *)sample_rectangle, "{R=dddd}@:{R=dddd}"};
    case FWDSampleNameLongDouble: return (FWDSample){(void *)sample_long_double, "{L=D}@:D"};
    case FWDSampleNameMixed: return (FWDSample){(void *)sample_mixed, "{M=id}@:{M=id}"};
    case FWDSampleNameComplex: return (FWDSample){(void *)sample_complex, "jd@:jd"};
    case FWDSampleNameUnion: return (FWDSample){(void *)sample_union, "(U=fi)@:(U=fi)"};
    case FWDSampleNameTenth: return (FWDSample){(void *)sample_tenth, "q@:qqqqqqqqqq"};
  }
  return (FWDSample){(void *)sample_sum, "i@:ii"};
}
