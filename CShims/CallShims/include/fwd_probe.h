#pragma once

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

/// Faults of libffi that were seen in releases in use. The package works around each of them.
typedef enum __attribute__((enum_extensibility(closed))) FWDLibffiFault : uint8_t {
  /// Issue 574: a structure whose integer half takes the last integer register overwrites a
  /// vector argument.
  FWDLibffiFaultLastRegister = 0,
  /// `ffi_call` changes the caller's array of argument pointers.
  FWDLibffiFaultOverwritesPointers,
  /// A structure that is just one `long double` comes back wrong.
  FWDLibffiFaultLongDoubleStructure,
  /// A `void` argument is accepted.
  FWDLibffiFaultAcceptsVoid,
  /// On AArch64 a value that is aligned to 16 begins at an odd register.
  FWDLibffiFaultOddRegister,
  /// On AArch64 no room is reserved on the stack for the addresses of large structures.
  FWDLibffiFaultStackRoom,
  /// A large structure is passed where the caller has it, and the callee may write into it.
  FWDLibffiFaultPassesOriginal,
} FWDLibffiFault;

/// Tries the installed libffi: 1 if it shows the fault, 0 if not, -1 if it does not apply here or
/// libffi refuses the types. One thread at a time: the functions that are called share a variable.
int fwd_probe_libffi(FWDLibffiFault fault);

/// Returns the path of the libffi in use, or NULL if the dynamic linker does not know it. The text
/// belongs to the linker.
const char *_Nullable fwd_libffi_path(void);

/// Returns the version that libffi itself reports, or NULL: releases before 3.5 do not tell. The text
/// belongs to libffi.
const char *_Nullable fwd_libffi_version(void);

/// A C function whose type is known here, for self-checks: its address and its encoding.
typedef struct FWDSample {
  const void *function;
  const char *encoding;
} FWDSample;

/// Functions that show a wrong call: each returns the value of its last argument, or of the one
/// named.
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

/// Returns one of the sample functions. Both members last as long as the process, and calling the
/// function under its encoding is right on every platform.
FWDSample fwd_sample(FWDSampleName name);

#pragma clang assume_nonnull end
