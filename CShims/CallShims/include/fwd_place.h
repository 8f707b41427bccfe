#pragma once

#include "fwd_plan.h"

#pragma clang assume_nonnull begin

// Where the values of a call travel, for each machine that this package knows, on any of them. Nothing
// here is about frames: those are the own machine's.

/// The rules of a machine for where values travel.
typedef enum __attribute__((enum_extensibility(closed))) FWDAbi : uint8_t {
  /// System V on x86-64.
  FWDAbiSysV = 0,
  /// The procedure call standard of AArch64, as on Linux.
  FWDAbiAAPCS64,
} FWDAbi;

/// A kind of registers.
typedef enum __attribute__((enum_extensibility(closed))) FWDBank : uint8_t {
  /// Those of integer arguments, in their order: `rdi`, `rsi` and so on, or `x0`, `x1` and so on. Number
  /// 8 of AArch64 has the address of a result in memory.
  FWDBankIntegers = 0,
  /// Those of integer results: `rax` and `rdx`, or `x0` and `x1`.
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

/// The most registers that one value takes: four members of one floating type on AArch64.
#define FWD_PLACE_REGISTERS 4

/// Where one value travels.
typedef struct FWDPlace {
  /// Where it begins among the bytes that are passed on the stack, and how many of them it takes, with
  /// the padding behind it; for `FWDRouteStack` alone.
  uint32_t stack_offset;
  uint32_t stack_size;
  FWDRoute route;
  /// Whether the address of a copy travels there in place of the value.
  uint8_t is_copied;
  /// How many registers the value takes: none on the stack. A result in memory has that of its address.
  uint8_t register_count;
  FWDRegister registers[FWD_PLACE_REGISTERS];
} FWDPlace;

/// Finds where `1 + argument_count` values travel, the result first, and writes as many places.
///
/// `values`, `argument_count`, `fixed_count` and `out_index` are as for `fwd_plan_create`, and so are the
/// refusals. `out_stack` is how many bytes the arguments take on the stack. Allocates nothing, and any
/// thread may ask.
FWDStatus fwd_place_for(FWDAbi abi, const FWDValue *values, size_t argument_count,
                        size_t fixed_count, FWDPlace *out_places, uint32_t *out_stack,
                        size_t *out_index);

/// Returns register `index` of a place, which has more than that; the first one where it has not. For
/// languages in which an array of C is no list.
FWDRegister fwd_place_register(const FWDPlace *place, size_t index);

/// Returns the name of a register as the machine's manuals spell it: `rdi`, `xmm0`, `x8`, `v0`. The text
/// lasts as long as the process; it is "?" for a register that arguments and results never have.
const char *fwd_register_name(FWDAbi abi, FWDRegister where);

#pragma clang assume_nonnull end
