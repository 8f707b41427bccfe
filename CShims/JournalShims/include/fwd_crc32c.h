#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Returns the CRC-32C (Castagnoli) of `count` bytes, continued from the CRC of preceding bytes;
/// `before` is 0 at the beginning. Uses the processor's instruction if it has one, otherwise a
/// table.
uint32_t fwd_crc32c(uint32_t before, const void *_Nullable bytes, size_t count);

/// Returns the same CRC by the table alone, on every processor. Tests compare the instruction with
/// it. It is slower by about a factor of ten.
uint32_t fwd_crc32c_by_table(uint32_t before, const void *_Nullable bytes, size_t count);

/// Returns whether this processor has the instruction. It is tested when the library is loaded, and
/// does not change during the process.
int fwd_crc32c_has_instruction(void);

#pragma clang assume_nonnull end
