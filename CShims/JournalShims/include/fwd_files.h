// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

/// The identity of a file, which is its device and inode number, and its size in bytes.
typedef struct {
  uint64_t device;
  uint64_t number;
  int64_t size;
} FWDFileFacts;

/// Gets the facts of the file of a descriptor. Returns 0, or the number of the error; the facts are
/// not set then. Does not retain the descriptor.
///
/// On Linux neither function queries the times of the file. Querying them makes the next write
/// update them, so that a sync after each write would have to write the times as well.
int fwd_facts_of_descriptor(int descriptor, FWDFileFacts *facts);

/// Gets the facts of the file at a path; symbolic links are followed. Returns 0, or the number of
/// the error; the facts are not set then.
int fwd_facts_at(const char *path, FWDFileFacts *facts);

#pragma clang assume_nonnull end
