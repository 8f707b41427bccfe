// SPDX-License-Identifier: Apache-2.0
/// The installed libffi, and functions for self-checks.
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
