// Numbers that the machine code shares with the C code, which asserts them. For both, so nothing but
// macros stands here.
#pragma once

#include "../include/fwd_engine.h"

#if FWD_ABI_AAPCS64
#define FWD_LAYOUT_VECTORS 64
#define FWD_LAYOUT_RESULT 128
#define FWD_LAYOUT_FRAME 192
#else
#define FWD_LAYOUT_VECTORS 48
#define FWD_LAYOUT_RESULT 112
#define FWD_LAYOUT_FRAME 144
#endif

#define FWD_PAGE 4096
#define FWD_TRAMPOLINE 16
#define FWD_TRAMPOLINES_PER_PAGE 255

// How `fwd_trampoline_entry` finds the result: `FWD_AS_MIXED` and those after it are explained
// there.
#define FWD_AS_WORDS 0
#define FWD_AS_MIXED 1
#define FWD_AS_X87 2
#define FWD_AS_COMPLEX_X87 3
