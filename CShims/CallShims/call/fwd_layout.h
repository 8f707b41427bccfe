// Numbers that the machine code shares with the C code, which asserts them. For both, so nothing but
// macros stands here.
#pragma once

#define FWD_LAYOUT_VECTORS 48
#define FWD_LAYOUT_RESULT 112
#define FWD_LAYOUT_FRAME 144

#define FWD_PAGE 4096
#define FWD_TRAMPOLINE 16
#define FWD_TRAMPOLINES_PER_PAGE 255

// How `fwd_trampoline_entry` finds the result: `FWD_AS_MIXED` and those after it are explained
// there.
#define FWD_AS_WORDS 0
#define FWD_AS_MIXED 1
#define FWD_AS_X87 2
#define FWD_AS_COMPLEX_X87 3
