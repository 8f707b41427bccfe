// SPDX-License-Identifier: Apache-2.0
// The code that C calls to enter Swift.
//
// fwd_trampoline_page: one page of 255 trampolines, 16 bytes each, and a final jump. It is never
// executed in place: the page is mapped again elsewhere, from the program's own file, in front of a
// page of data. Trampoline i loads the address of its 16 bytes of data, 4096 bytes behind it, into
// r10, and jumps to the address in the last 16 bytes of data.
//
// fwd_trampoline_call: the code that all trampolines jump to, with the address of their data in r10. It
//   passes the registers on as they are, to the function in the data, which is of Swift's calling
//   convention: its context, which is in the data too, is in r13.
//
// fwd_trampoline_entry: such a function.
//   in:   a call by the System V ABI, below the return address and the word that fwd_trampoline_call
//         pushed; r13 is an entry
//   does: saves the argument registers as an FWDFrame on its stack, and calls
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

#if FWD_ABI_SYSV && FWD_HAS_DIRECT_ENGINE

#define FRAME_VECTORS FWD_LAYOUT_VECTORS
#define FRAME_RESULT FWD_LAYOUT_RESULT

        .text
        .balign FWD_PAGE
        .globl  fwd_trampoline_page
        .hidden fwd_trampoline_page
        .type   fwd_trampoline_page, @object
        .size   fwd_trampoline_page, FWD_PAGE
fwd_trampoline_page:
        .rept   FWD_TRAMPOLINES_PER_PAGE
        endbr64
        leaq    FWD_TRAMPOLINE_APART-11(%rip), %r10 // from the end of this instruction, 11 bytes in
        jmp     .Llast
        .balign FWD_TRAMPOLINE, 0xcc
        .endr
        // An .org backwards is an error: it asserts that a trampoline is as long as its data.
        .org    fwd_trampoline_page + FWD_TRAMPOLINE*FWD_TRAMPOLINES_PER_PAGE
.Llast:
        jmp     *FWD_TRAMPOLINE_APART-6(%rip)       // the last 16 bytes of the data page
        .balign FWD_PAGE, 0xcc
        .org    fwd_trampoline_page + FWD_PAGE

        .globl  fwd_trampoline_entry
        .hidden fwd_trampoline_entry
        .type   fwd_trampoline_entry, @function
        .balign 64
fwd_trampoline_entry:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        subq    $FWD_LAYOUT_FRAME, %rsp
        movq    %rdi, 0(%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rcx, 24(%rsp)
        movq    %r8, 32(%rsp)
        movq    %r9, 40(%rsp)
        movsd   %xmm0, FRAME_VECTORS(%rsp)
        movsd   %xmm1, FRAME_VECTORS+8(%rsp)
        movsd   %xmm2, FRAME_VECTORS+16(%rsp)
        movsd   %xmm3, FRAME_VECTORS+24(%rsp)
        movsd   %xmm4, FRAME_VECTORS+32(%rsp)
        movsd   %xmm5, FRAME_VECTORS+40(%rsp)
        movsd   %xmm6, FRAME_VECTORS+48(%rsp)
        movsd   %xmm7, FRAME_VECTORS+56(%rsp)
        movq    %r13, %rdi
        movq    %rsp, %rsi
        leaq    32(%rbp), %rdx
        call    fwd_trampoline_enter
        cmpl    $FWD_RETURN_INTEGER_VECTOR, %eax
        jae     1f
        movq    FRAME_RESULT(%rsp), %rax
        movq    FRAME_RESULT+8(%rsp), %rdx
        movsd   FRAME_RESULT(%rsp), %xmm0
        movsd   FRAME_RESULT+8(%rsp), %xmm1
        leave
        .cfi_remember_state
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        ret
        .cfi_restore_state
1:      je      2f
        cmpl    $FWD_RETURN_X87, %eax
        je      4f
        ja      3f
        movsd   FRAME_RESULT(%rsp), %xmm0
        movq    FRAME_RESULT+8(%rsp), %rax
        jmp     5f
2:      movq    FRAME_RESULT(%rsp), %rax
        movsd   FRAME_RESULT+8(%rsp), %xmm0
        jmp     5f
3:      fldt    FRAME_RESULT+16(%rsp)
4:      fldt    FRAME_RESULT(%rsp)
5:      leave
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        ret
        .cfi_endproc
        .size   fwd_trampoline_entry, . - fwd_trampoline_entry

        .globl  fwd_trampoline_call
        .hidden fwd_trampoline_call
        .type   fwd_trampoline_call, @function
        .balign 64
fwd_trampoline_call:
        .cfi_startproc
        endbr64
        pushq   %r13
        .cfi_def_cfa_offset 16
        .cfi_offset %r13, -16
        movq    8(%r10), %r13
        call    *(%r10)
        popq    %r13
        .cfi_def_cfa_offset 8
        .cfi_restore %r13
        ret
        .cfi_endproc
        .size   fwd_trampoline_call, . - fwd_trampoline_call

        .globl  fwd_trampoline_scope_over
        .hidden fwd_trampoline_scope_over
        .type   fwd_trampoline_scope_over, @function
fwd_trampoline_scope_over:
        .cfi_startproc
        endbr64
        movq    %r10, %r13
        jmp     fwd_scope_over
        .cfi_endproc
        .size   fwd_trampoline_scope_over, . - fwd_trampoline_scope_over

#endif

#include "../call/fwd_elf_notes.h"
