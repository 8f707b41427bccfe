#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The CRC-32C (Castagnoli) of `count` bytes, continued from that of the bytes before them; 0 where there are
/// none. By the processor's instruction where it has one, else by a table. Reads the bytes and keeps nothing.
uint32_t fwd_crc32c(uint32_t before, const void *_Nullable bytes, size_t count);

/// The same by the table alone, on every processor: what the instruction is tested against. Slower, by about
/// a factor of ten.
uint32_t fwd_crc32c_by_table(uint32_t before, const void *_Nullable bytes, size_t count);

/// Whether this processor has the instruction. Found out when the library is loaded, and the same for the
/// whole life of the process.
int fwd_crc32c_has_instruction(void);

#pragma clang assume_nonnull end
