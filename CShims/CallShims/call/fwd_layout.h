// Numbers that the machine code shares with the C code, which asserts them. For both, so nothing but
// macros stands here.
#pragma once

#include "../include/fwd_engine.h"

#if FWD_ABI_AAPCS64
#define FWD_LAYOUT_VECTORS 64
#define FWD_LAYOUT_RESULT 128
#define FWD_LAYOUT_FRAME 192
// Behind the frame of a call from a trampoline.
#define FWD_LAYOUT_WIDE 192
#define FWD_LAYOUT_INDIRECT 320
#define FWD_LAYOUT_ARRIVAL 336
#else
#define FWD_LAYOUT_VECTORS 48
#define FWD_LAYOUT_RESULT 112
#define FWD_LAYOUT_FRAME 144
#endif

#define FWD_PAGE 4096
#define FWD_TRAMPOLINE 16
#define FWD_TRAMPOLINES_PER_PAGE 255

// How far the data of a trampoline are from its code. Pages have 4 KiB on x86-64, and up to 64 KiB on
// AArch64.
#if FWD_ABI_AAPCS64
#define FWD_TRAMPOLINE_APART 65536
#else
#define FWD_TRAMPOLINE_APART FWD_PAGE
#endif

// How `fwd_trampoline_entry` finds the result: as it is, or in a way that is explained there.
#define FWD_AS_WORDS 0
#if FWD_ABI_AAPCS64
#define FWD_AS_FLOATS 1
#define FWD_AS_QUADS 2
#else
#define FWD_AS_MIXED 1
#define FWD_AS_X87 2
#define FWD_AS_COMPLEX_X87 3
#endif
