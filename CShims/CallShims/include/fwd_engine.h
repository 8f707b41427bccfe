// SPDX-License-Identifier: Apache-2.0
// The calling convention of this machine. The file is for C and for assembly, so it contains only
// macros. No other file tests the compiler for it; a few test for the instructions of a processor,
// and fwd_elf_notes.h for the notes in a processor's object files.
#pragma once

// The direct engine implements the System V ABI of x86-64, and AAPCS64, the procedure call standard
// of AArch64. On all other platforms calls go through libffi; FWD_WITHOUT_DIRECT_ENGINE selects
// that here too. AArch64 needs clang, because one of its shapes uses an attribute of clang. Apple's
// AArch64 has other rules.
#if defined(FWD_WITHOUT_DIRECT_ENGINE) || !defined(__ELF__)
#define FWD_ABI_SYSV 0
#define FWD_ABI_AAPCS64 0
#elif defined(__x86_64__)
#define FWD_ABI_SYSV 1
#define FWD_ABI_AAPCS64 0
#elif defined(__aarch64__) && defined(__clang__)
#define FWD_ABI_SYSV 0
#define FWD_ABI_AAPCS64 1
#else
#define FWD_ABI_SYSV 0
#define FWD_ABI_AAPCS64 0
#endif

#define FWD_HAS_DIRECT_ENGINE (FWD_ABI_SYSV || FWD_ABI_AAPCS64)

// Whether values are passed by AAPCS64, whichever engine performs the calls.
#if defined(__aarch64__) && defined(__ELF__)
#define FWD_PASSES_BY_AAPCS64 1
#else
#define FWD_PASSES_BY_AAPCS64 0
#endif
