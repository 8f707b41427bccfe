// SPDX-License-Identifier: Apache-2.0
// Instructions of AArch64 that protect jumps and returns. All are hints, which older processors
// ignore; they are written by number, so that every assembler accepts them.
#pragma once

// `bti c`: a valid target of calls, and of jumps by x16 or x17.
#define FWD_LANDING hint #34

// `paciasp`, which is also a valid target of calls, and `autiasp`: they sign the return address
// before it is stored, and check it before it is used. The .cfi directives inform debuggers.
#define FWD_SIGN_RETURN                                                                           \
  hint #25;                                                                                       \
  .cfi_negate_ra_state
#define FWD_CHECK_RETURN                                                                          \
  hint #29;                                                                                       \
  .cfi_negate_ra_state
