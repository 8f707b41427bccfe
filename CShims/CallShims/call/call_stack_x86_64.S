// SPDX-License-Identifier: Apache-2.0
// A call of any type. It copies exactly the stack words that are arguments.
//
// fwd_call_stack
//   in:   rdi the frame, rsi the function, rdx the number of words behind the frame that are passed,
//         ecx the registers of the result
//   does: calls the function with these words, and with the frame's registers, and stores the result
//         in the frame
//   touches each page of stack before it goes below it: too small a stack ends in its guard page.

#include "fwd_layout.h"

#if FWD_ABI_SYSV && FWD_HAS_DIRECT_ENGINE

        .text
        .globl  fwd_call_stack
        .hidden fwd_call_stack
        .type   fwd_call_stack, @function
        .balign 64
fwd_call_stack:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %rdi
        pushq   %rcx
        movq    %rdi, %r10
        movq    %rsi, %r11
        leaq    1(%rdx), %rax           // an even number of words keeps the stack aligned
        andq    $-2, %rax
        shlq    $3, %rax
1:      cmpq    $FWD_PAGE, %rax
        jb      2f
        subq    $FWD_PAGE, %rsp
        orq     $0, (%rsp)
        subq    $FWD_PAGE, %rax
        jmp     1b
2:      subq    %rax, %rsp
        xorl    %ecx, %ecx
3:      cmpq    %rdx, %rcx
        jae     4f
        movq    FWD_LAYOUT_FRAME(%r10,%rcx,8), %rax
        movq    %rax, (%rsp,%rcx,8)
        incq    %rcx
        jmp     3b
4:
        movsd   FWD_LAYOUT_VECTORS(%r10), %xmm0
        movsd   FWD_LAYOUT_VECTORS+8(%r10), %xmm1
        movsd   FWD_LAYOUT_VECTORS+16(%r10), %xmm2
        movsd   FWD_LAYOUT_VECTORS+24(%r10), %xmm3
        movsd   FWD_LAYOUT_VECTORS+32(%r10), %xmm4
        movsd   FWD_LAYOUT_VECTORS+40(%r10), %xmm5
        movsd   FWD_LAYOUT_VECTORS+48(%r10), %xmm6
        movsd   FWD_LAYOUT_VECTORS+56(%r10), %xmm7
        movq    0(%r10), %rdi
        movq    8(%r10), %rsi
        movq    16(%r10), %rdx
        movq    24(%r10), %rcx
        movq    32(%r10), %r8
        movq    40(%r10), %r9
        movl    $8, %eax                // the vector registers that a variadic function may find in use
        call    *%r11
        movl    -16(%rbp), %ecx
        movq    -8(%rbp), %r10
        cmpl    $FWD_RETURN_INTEGERS, %ecx
        jb      8f
        jne     5f
        movq    %rax, FWD_LAYOUT_RESULT(%r10)
        movq    %rdx, FWD_LAYOUT_RESULT+8(%r10)
        jmp     8f
5:      cmpl    $FWD_RETURN_X87, %ecx
        jae     7f
        cmpl    $FWD_RETURN_INTEGER_VECTOR, %ecx
        je      6f
        movsd   %xmm0, FWD_LAYOUT_RESULT(%r10)
        movsd   %xmm1, FWD_LAYOUT_RESULT+8(%r10)
        jb      8f                      // two vectors
        movq    %rax, FWD_LAYOUT_RESULT+8(%r10)
        jmp     8f
6:      movq    %rax, FWD_LAYOUT_RESULT(%r10)
        movsd   %xmm0, FWD_LAYOUT_RESULT+8(%r10)
        jmp     8f
7:      fstpt   FWD_LAYOUT_RESULT(%r10)
        je      8f                      // one register
        fstpt   FWD_LAYOUT_RESULT+16(%r10)
8:      leave
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        ret
        .cfi_endproc
        .size   fwd_call_stack, . - fwd_call_stack

#endif

#include "fwd_elf_notes.h"
