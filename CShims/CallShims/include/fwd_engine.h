// SPDX-License-Identifier: Apache-2.0
// What this machine is. The file is for C and for assembly, so it contains only macros. No other
// file tests the compiler for it; a few test for the instructions of a processor, and
// fwd_elf_notes.h for the notes in a processor's object files.
#pragma once

// The rules that place values, and the layout of frames: System V on x86-64, or AAPCS64, the
// procedure call standard of AArch64. On a processor that this package does not know, frames have
// the layout of AArch64, and libffi finds the values in them.
#if defined(__x86_64__)
#define FWD_ABI_SYSV 1
#define FWD_ABI_AAPCS64 0
#else
#define FWD_ABI_SYSV 0
#define FWD_ABI_AAPCS64 1
#endif

#if defined(__x86_64__) || defined(__aarch64__)
#define FWD_KNOWS_PROCESSOR 1
#else
#define FWD_KNOWS_PROCESSOR 0
#endif

// The registers of a result, for C and for assembly. A result in memory is like none.
#define FWD_RETURN_NOTHING 0
#define FWD_RETURN_INTEGERS 1
#define FWD_RETURN_VECTORS 2
#if FWD_ABI_AAPCS64
// More than one `float`, each in a register of its own, and `long double`.
#define FWD_RETURN_FLOATS 3
#define FWD_RETURN_QUADS 4
#else
#define FWD_RETURN_INTEGER_VECTOR 3
#define FWD_RETURN_VECTOR_INTEGER 4
#define FWD_RETURN_X87 5
#define FWD_RETURN_COMPLEX_X87 6
#endif

// Whether this package has machine code for calls and callbacks here. Elsewhere libffi makes them;
// FWD_WITHOUT_DIRECT_ENGINE selects it here too. Apple's AArch64 has other rules.
#if FWD_KNOWS_PROCESSOR && defined(__ELF__) && !defined(FWD_WITHOUT_DIRECT_ENGINE)
#define FWD_HAS_DIRECT_ENGINE 1
#else
#define FWD_HAS_DIRECT_ENGINE 0
#endif
