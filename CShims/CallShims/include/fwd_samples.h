// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

/// Returns the path of the libffi in use, or NULL if the dynamic linker does not know it. The
/// linker owns the string.
const char *_Nullable fwd_libffi_path(void);

/// Returns the version that libffi reports, or NULL: releases before 3.5 do not report one. libffi
/// owns the string.
const char *_Nullable fwd_libffi_version(void);

/// A C function of a known type, for self-checks: its address and its encoding.
typedef struct FWDSample {
  const void *function;
  const char *encoding;
} FWDSample;

/// Functions that reveal an incorrect call: each returns its last argument, or the one named.
typedef enum __attribute__((enum_extensibility(closed))) FWDSampleName : uint8_t {
  /// `i@:ii`: the sum of both integers.
  FWDSampleNameSum = 0,
  /// `f@:iiif{P=cd}`: the float, which issue 574 of libffi overwrites.
  FWDSampleNameLastRegister,
  /// `{R=dddd}@:{R=dddd}`: the same rectangle.
  FWDSampleNameRectangle,
  /// `{L=D}@:D`: the long double in a structure.
  FWDSampleNameLongDouble,
  /// `{M=id}@:{M=id}`: the same pair, in registers of both kinds.
  FWDSampleNameMixed,
  /// `jd@:jd`: the same complex number.
  FWDSampleNameComplex,
  /// `(U=fi)@:(U=fi)`: the same union, in an integer register.
  FWDSampleNameUnion,
  /// `q@:qqqqqqqqqq`: the last of ten, on the stack.
  FWDSampleNameTenth,
} FWDSampleName;

/// Returns one of the sample functions. Both members are valid as long as the process, and calling
/// the function under its encoding is correct on every platform.
FWDSample fwd_sample(FWDSampleName name);

#pragma clang assume_nonnull end
