// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Returns the CRC-32C (Castagnoli) of `count` bytes, continued from `before`, the checksum of the
/// bytes before them; 0 at the beginning. Uses the processor's instruction if it has one, otherwise
/// a table. Does not retain the bytes.
uint32_t fwd_crc32c(uint32_t before, const void *_Nullable bytes, size_t count);

/// Like `fwd_crc32c`, but with the table on every processor. Tests compare the instruction with it.
/// Slower by a factor of about ten.
uint32_t fwd_crc32c_by_table(uint32_t before, const void *_Nullable bytes, size_t count);

/// Returns 1 if this processor has the instruction, otherwise 0. Determined when the library is
/// loaded, and constant for the life of the process.
int fwd_crc32c_has_instruction(void);

#pragma clang assume_nonnull end
