// SPDX-License-Identifier: Apache-2.0
// Constants that the assembly shares with the C code, which asserts them. The file is for both, so
// it contains only macros.
#pragma once

#include "../include/fwd_engine.h"

#if FWD_ABI_AAPCS64
#define FWD_LAYOUT_VECTORS 64
#define FWD_LAYOUT_RESULT 192
#define FWD_LAYOUT_FRAME 256
// Behind the frame of a call from a trampoline.
#define FWD_LAYOUT_INDIRECT 256
#define FWD_LAYOUT_ARRIVAL 272
#else
#define FWD_LAYOUT_VECTORS 48
#define FWD_LAYOUT_RESULT 112
#define FWD_LAYOUT_FRAME 144
#endif

#define FWD_PAGE 4096
#define FWD_TRAMPOLINE 16
#define FWD_TRAMPOLINES_PER_PAGE 255

// The distance between the code and the data of a trampoline. Pages have 4 KiB on x86-64, and up to
// 64 KiB on AArch64.
#if FWD_ABI_AAPCS64
#define FWD_TRAMPOLINE_APART 65536
#else
#define FWD_TRAMPOLINE_APART FWD_PAGE
#endif
