// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

// Where the values of a call are passed, for each supported machine, computed on any of them.
// Frames are not part of this file: they exist for the current machine only.

/// The calling convention of a machine.
typedef enum __attribute__((enum_extensibility(closed))) FWDAbi : uint8_t {
  /// System V on x86-64.
  FWDAbiSysV = 0,
  /// The procedure call standard of AArch64, as used by Linux.
  FWDAbiAAPCS64,
} FWDAbi;

/// A kind of registers.
typedef enum __attribute__((enum_extensibility(closed))) FWDBank : uint8_t {
  /// Integer argument registers, in order: `rdi`, `rsi` and so on, or `x0`, `x1` and so on. Number
  /// 8 of AArch64 has the address of a result in memory.
  FWDBankIntegers = 0,
  /// Integer result registers: `rax` and `rdx`, or `x0` and `x1`.
  FWDBankIntegerResults,
  /// `xmm0` and so on, or `v0` and so on.
  FWDBankVectors,
  /// `st0` and `st1`.
  FWDBankX87,
} FWDBank;

typedef struct FWDRegister {
  FWDBank bank;
  uint8_t number;
} FWDRegister;

/// The most registers of one value: four members of one floating-point type on AArch64.
#define FWD_PLACE_REGISTERS 4

/// Where one value is passed.
typedef struct FWDPlace {
  /// The offset among the bytes that are passed on the stack; for `FWDRouteStack` only.
  uint32_t stack_offset;
  FWDRoute route;
  /// Whether the address of a copy is passed instead of the value.
  uint8_t is_copied;
  /// The number of registers: 0 on the stack. A result in memory has one, for its address.
  uint8_t register_count;
  FWDRegister registers[FWD_PLACE_REGISTERS];
} FWDPlace;

/// Finds where `1 + argument_count` values are passed, the result first, and writes as many places.
///
/// `values`, `argument_count`, `fixed_count`, `out_index` and the errors are those of
/// `fwd_plan_create`. `out_stack` is the number of bytes that the arguments take on the stack.
/// Allocates nothing. Thread-safe.
FWDStatus fwd_place_for(FWDAbi abi, const FWDValue *values, size_t argument_count,
                        size_t fixed_count, FWDPlace *out_places, uint32_t *out_stack,
                        size_t *out_index);

/// Returns register `index` of a place, or the first one if the index is out of range. For
/// languages that do not import C arrays as collections.
FWDRegister fwd_place_register(const FWDPlace *place, size_t index);

/// Returns the name of a register in the machine's manuals: `rdi`, `xmm0`, `x8`, `v0`. The string
/// is static; it is "?" for a register that neither arguments nor results use.
const char *fwd_register_name(FWDAbi abi, FWDRegister where);

#pragma clang assume_nonnull end
