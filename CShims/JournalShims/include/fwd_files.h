// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

/// The identity of a file: its device and inode numbers.
typedef struct {
  uint64_t device;
  uint64_t number;
} FWDFileIdentity;

/// Returns the identity of the file of a descriptor. On failure, returns zeros and sets `errno`.
/// Does not retain the descriptor.
FWDFileIdentity fwd_identity_of_descriptor(int descriptor);

/// Returns the identity of the file at a path; symbolic links are followed. On failure, returns
/// zeros and sets `errno`.
///
/// On Linux neither function queries the times of the file. Querying them makes the next write
/// update them, so that a sync after each write would have to write the times as well.
FWDFileIdentity fwd_identity_at(const char *path);

#pragma clang assume_nonnull end
