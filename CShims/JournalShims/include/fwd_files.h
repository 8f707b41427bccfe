#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

/// A file, as its file system tells it from all others.
typedef struct {
  uint64_t device;
  uint64_t number;
} FWDFileIdentity;

/// The identity of the file of a descriptor; zeros where it is none. Keeps nothing, and sets `errno` where it is
/// zeros.
FWDFileIdentity fwd_identity_of_descriptor(int descriptor);

/// The identity of the file that a path leads to, links followed; zeros where it leads to none.
///
/// On Linux neither asks for the times of the file. One whose times were asked for gets others with the next write, so
/// that a wait for the disk after each write would write them as well.
FWDFileIdentity fwd_identity_at(const char *path);

#pragma clang assume_nonnull end
