#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

/// The identity of a file, unique among all files that exist.
typedef struct {
  uint64_t device;
  uint64_t number;
} FWDFileIdentity;

/// Returns the identity of a descriptor's file. If there is no such file, it returns zeros, and
/// sets `errno`.
FWDFileIdentity fwd_identity_of_descriptor(int descriptor);

/// Returns the identity of the file at a path, following links; zeros if there is no file.
///
/// On Linux, neither function queries the times of the file. A file whose times were queried gets
/// new ones with the next write, so waiting for the disk after each write would write the times as
/// well.
FWDFileIdentity fwd_identity_at(const char *path);

#pragma clang assume_nonnull end
