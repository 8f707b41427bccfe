// Instructions of AArch64 by which a processor guards jumps and returns. All are hints, which older
// processors skip and every assembler knows by their numbers.
#pragma once

// `bti c`: a place that a call may lead to, or a jump by x16 or x17.
#define FWD_LANDING hint #34

// `paciasp`, which is such a place as well, and `autiasp`: the return address is signed before it goes to
// memory, and checked before it is used. Debuggers are told.
#define FWD_SIGN_RETURN                                                                           \
  hint #25;                                                                                       \
  .cfi_negate_ra_state
#define FWD_CHECK_RETURN                                                                          \
  hint #29;                                                                                       \
  .cfi_negate_ra_state
