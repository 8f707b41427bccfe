// Which rules calls have on this machine. For C and for machine code, so nothing but macros stands here. No
// other file asks the compiler for that; a few ask for the instructions of a processor, and
// fwd_elf_notes.h for the notes that a processor's files have.
#pragma once

// The direct engine knows where each value travels under the System V ABI of x86-64, and under AAPCS64, the
// procedure call standard of AArch64. Everywhere else calls go through libffi; define
// FWD_WITHOUT_DIRECT_ENGINE to see that here too. AArch64 needs clang: one of its shapes is spelled by an
// attribute of clang's. Apple's AArch64 has rules of its own.
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

// Whether values travel by AAPCS64, whoever performs the calls.
#if defined(__aarch64__) && defined(__ELF__)
#define FWD_PASSES_BY_AAPCS64 1
#else
#define FWD_PASSES_BY_AAPCS64 0
#endif
