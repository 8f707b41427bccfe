// SPDX-License-Identifier: Apache-2.0
// A call of any type. It copies exactly the stack words that are arguments.
//
// fwd_call_stack
//   in:   x0 the frame, x1 the function, x2 the number of words behind the frame that are passed,
//         w3 the registers of the result, x4 the address of a result in memory
//   does: calls the function with these words, and with the frame's registers, and stores the result
//         in the frame
//   touches each page of stack before it goes below it: too small a stack ends in its guard page.

#include "fwd_layout.h"
#include "fwd_aarch64.h"

#if FWD_ABI_AAPCS64 && FWD_HAS_DIRECT_ENGINE

        .text
        .globl  fwd_call_stack
        .hidden fwd_call_stack
        .type   fwd_call_stack, @function
        .balign 64
fwd_call_stack:
        .cfi_startproc
        FWD_SIGN_RETURN
        stp     x29, x30, [sp, #-32]!
        .cfi_def_cfa_offset 32
        .cfi_offset x29, -32
        .cfi_offset x30, -24
        mov     x29, sp
        stp     x0, x3, [sp, #16]
        .cfi_def_cfa_register x29
        mov     x9, x0
        mov     x10, x1
        mov     x8, x4
        add     x11, x2, #1             // an even number of words keeps the stack aligned
        and     x11, x11, #~1
        lsl     x11, x11, #3
1:      cmp     x11, #FWD_PAGE
        b.lo    2f
        sub     sp, sp, #FWD_PAGE
        str     xzr, [sp]
        sub     x11, x11, #FWD_PAGE
        b       1b
2:      sub     sp, sp, x11
        add     x12, x9, #FWD_LAYOUT_FRAME
        mov     x13, sp
3:      subs    x2, x2, #2
        b.lo    4f
        ldp     x14, x15, [x12], #16
        stp     x14, x15, [x13], #16
        b       3b
4:      tbz     x2, #0, 5f              // -2 if no word is left, -1 if one is
        ldr     x14, [x12]
        str     x14, [x13]
5:      ldp     q0, q1, [x9, #FWD_LAYOUT_VECTORS]
        ldp     q2, q3, [x9, #FWD_LAYOUT_VECTORS+32]
        ldp     q4, q5, [x9, #FWD_LAYOUT_VECTORS+64]
        ldp     q6, q7, [x9, #FWD_LAYOUT_VECTORS+96]
        ldp     x0, x1, [x9]
        ldp     x2, x3, [x9, #16]
        ldp     x4, x5, [x9, #32]
        ldp     x6, x7, [x9, #48]
        blr     x10
        ldp     x9, x10, [x29, #16]
        add     x9, x9, #FWD_LAYOUT_RESULT
        cmp     w10, #FWD_RETURN_VECTORS
        b.eq    6f
        b.hi    7f
        cbz     w10, 9f
        stp     x0, x1, [x9]
        b       9f
6:      stp     d0, d1, [x9]
        stp     d2, d3, [x9, #16]
        b       9f
7:      cmp     w10, #FWD_RETURN_FLOATS
        b.ne    8f
        stp     s0, s1, [x9]
        stp     s2, s3, [x9, #8]
        b       9f
8:      stp     q0, q1, [x9]
        stp     q2, q3, [x9, #32]
9:      mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], #32
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        FWD_CHECK_RETURN
        ret
        .cfi_endproc
        .size   fwd_call_stack, . - fwd_call_stack

#endif

#include "fwd_elf_notes.h"
