// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

/// Known faults of libffi releases in use. The package works around each of them.
typedef enum __attribute__((enum_extensibility(closed))) FWDLibffiFault : uint8_t {
  /// Issue 574: a structure whose integer half takes the last integer register overwrites a vector
  /// argument.
  FWDLibffiFaultLastRegister = 0,
  /// `ffi_call` changes the caller's array of argument pointers.
  FWDLibffiFaultOverwritesPointers,
  /// A structure with a `long double` as its only member is returned incorrectly.
  FWDLibffiFaultLongDoubleStructure,
  /// A `void` argument is accepted.
  FWDLibffiFaultAcceptsVoid,
  /// On AArch64, a value with an alignment of 16 begins at an odd register.
  FWDLibffiFaultOddRegister,
  /// On AArch64, no stack space is reserved for the addresses of large structures.
  FWDLibffiFaultStackRoom,
  /// A large structure is passed without a copy, so the callee may modify the caller's value.
  FWDLibffiFaultPassesOriginal,
} FWDLibffiFault;

/// Tests the installed libffi: 1 if it has the fault, 0 if not, -1 if the fault does not apply to
/// this platform or libffi refuses the types. Not thread-safe: the called functions share a
/// variable.
int fwd_probe_libffi(FWDLibffiFault fault);

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
