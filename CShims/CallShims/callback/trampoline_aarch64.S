// SPDX-License-Identifier: Apache-2.0
// The code that C calls to enter Swift.
//
// fwd_trampoline_page: 4096 bytes with 255 trampolines, 16 bytes each, and a final jump. It is
// never executed in place: the page is mapped again elsewhere, from the program's own file, in
// front of a page of data, at the distance of the largest page size of AArch64. Trampoline i loads
// the address of its 16 bytes of data into x17, and jumps to the address in the last 16 bytes of
// data.
//
// fwd_trampoline_call: the code that all trampolines jump to, with the address of their data in x17. It
//   passes the registers on as they are, to the function in the data, which is of Swift's calling
//   convention: its context, which is in the data too, is in x20.
//
// fwd_trampoline_entry: such a function.
//   in:   a call by AAPCS64, below the two words that fwd_trampoline_call pushed; x20 is an entry
//   does: saves the argument registers as an FWDFrame on its stack, followed by x8, and calls
//         int fwd_trampoline_enter(entry, FWDFrame *frame, const void *stack_words)
//         which returns the registers of the result
//   out:  these registers from the result of the frame
//   preserves all callee-saved registers. Exceptions cannot unwind through it.
//
// fwd_trampoline_scope_over: the function of data without a closure; calls fwd_scope_over with the data
//   as its context.
//
// The constants are asserted in trampoline.c and trampoline_pages.c.

#include "../call/fwd_layout.h"
#include "../call/fwd_aarch64.h"

#if FWD_ABI_AAPCS64 && FWD_HAS_DIRECT_ENGINE

#define RESULT FWD_LAYOUT_RESULT

        .text
        .balign FWD_PAGE
        .globl  fwd_trampoline_page
        .hidden fwd_trampoline_page
        .type   fwd_trampoline_page, @object
        .size   fwd_trampoline_page, FWD_PAGE
fwd_trampoline_page:
        .rept   FWD_TRAMPOLINES_PER_PAGE
        FWD_LANDING
        adr     x17, . + FWD_TRAMPOLINE_APART-4 // from this instruction, 4 bytes in
        b       .Llast
        brk     #1
        .endr
        // An .org backwards is an error: it asserts that a trampoline is as long as its data.
        .org    fwd_trampoline_page + FWD_TRAMPOLINE*FWD_TRAMPOLINES_PER_PAGE
.Llast:
        ldr     x16, . + FWD_TRAMPOLINE_APART   // the last 16 bytes of the data
        br      x16
        .org    fwd_trampoline_page + FWD_PAGE

        .globl  fwd_trampoline_entry
        .hidden fwd_trampoline_entry
        .type   fwd_trampoline_entry, @function
        .balign 64
fwd_trampoline_entry:
        .cfi_startproc
        FWD_SIGN_RETURN
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        sub     sp, sp, #FWD_LAYOUT_ARRIVAL
        stp     x0, x1, [sp]
        stp     x2, x3, [sp, #16]
        stp     x4, x5, [sp, #32]
        stp     x6, x7, [sp, #48]
        stp     q0, q1, [sp, #FWD_LAYOUT_VECTORS]
        stp     q2, q3, [sp, #FWD_LAYOUT_VECTORS+32]
        stp     q4, q5, [sp, #FWD_LAYOUT_VECTORS+64]
        stp     q6, q7, [sp, #FWD_LAYOUT_VECTORS+96]
        str     x8, [sp, #FWD_LAYOUT_INDIRECT]
        mov     x0, x20
        mov     x1, sp
        add     x2, x29, #32
        bl      fwd_trampoline_enter
        cmp     w0, #FWD_RETURN_VECTORS
        b.hi    1f
        ldp     x0, x1, [sp, #RESULT]
        ldp     d0, d1, [sp, #RESULT]
        ldp     d2, d3, [sp, #RESULT+16]
        b       3f
1:      cmp     w0, #FWD_RETURN_FLOATS
        b.ne    2f
        ldp     s0, s1, [sp, #RESULT]
        ldp     s2, s3, [sp, #RESULT+8]
        b       3f
2:      ldp     q0, q1, [sp, #RESULT]
        ldp     q2, q3, [sp, #RESULT+32]
3:      mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], #16
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        FWD_CHECK_RETURN
        ret
        .cfi_endproc
        .size   fwd_trampoline_entry, . - fwd_trampoline_entry

        .globl  fwd_trampoline_call
        .hidden fwd_trampoline_call
        .type   fwd_trampoline_call, @function
        .balign 64
fwd_trampoline_call:
        .cfi_startproc
        FWD_SIGN_RETURN
        stp     x20, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x20, -16
        .cfi_offset x30, -8
        ldp     x16, x20, [x17]
        blr     x16
        ldp     x20, x30, [sp], #16
        .cfi_def_cfa_offset 0
        .cfi_restore x20
        .cfi_restore x30
        FWD_CHECK_RETURN
        ret
        .cfi_endproc
        .size   fwd_trampoline_call, . - fwd_trampoline_call

        .globl  fwd_trampoline_scope_over
        .hidden fwd_trampoline_scope_over
        .type   fwd_trampoline_scope_over, @function
        .balign 16
fwd_trampoline_scope_over:
        .cfi_startproc
        FWD_LANDING
        mov     x20, x17
        b       fwd_scope_over
        .cfi_endproc
        .size   fwd_trampoline_scope_over, . - fwd_trampoline_scope_over

#endif

#include "../call/fwd_elf_notes.h"
