// SPDX-License-Identifier: Apache-2.0
// The properties of every assembly file: its stack is not executable, each indirect jump target
// begins with `endbr64`, `bti` or `paciasp`, and every return goes to its caller. The linker drops
// the last two from the whole program if one of its files lacks them.
        .section .note.GNU-stack, "", %progbits
#if defined(__x86_64__) || defined(__aarch64__)
        .section .note.gnu.property, "a", @note
        .balign 8
        .long   4, 16, 5                // sizes of name and description, NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
#if defined(__x86_64__)
        .long   0xc0000002, 4, 3, 0     // GNU_PROPERTY_X86_FEATURE_1_AND: IBT and SHSTK; padding
#else
        .long   0xc0000000, 4, 3, 0     // GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI and PAC; padding
#endif
#endif
