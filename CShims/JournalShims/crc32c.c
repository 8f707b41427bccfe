// SPDX-License-Identifier: Apache-2.0
#include "fwd_crc32c.h"

#include <string.h>

// The polynomial of CRC-32C, with reversed bits.
#define POLYNOMIAL 0x82F63B78u

static uint32_t table[256];
static int has_instruction;

// Runs before main, so that no caller has to check for initialization.
__attribute__((constructor)) static void prepare(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; bit++) rest = rest & 1 ? rest >> 1 ^ POLYNOMIAL : rest >> 1;
    table[byte] = rest;
  }
#if defined(__x86_64__)
  __builtin_cpu_init();
  has_instruction = __builtin_cpu_supports("sse4.2") != 0;
#endif
}

int fwd_crc32c_has_instruction(void) {
  return has_instruction;
}

uint32_t fwd_crc32c_by_table(uint32_t before, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  uint32_t rest = ~before;
  for (; count > 0; count--) rest = rest >> 8 ^ table[(rest ^ *next++) & 0xFF];
  return ~rest;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t before,
                                                                 const uint8_t *next,
                                                                 size_t count) {
  uint64_t rest = ~before;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    rest = __builtin_ia32_crc32di(rest, word);
  }
  uint32_t short_rest = (uint32_t)rest;
  for (; count > 0; count--) short_rest = __builtin_ia32_crc32qi(short_rest, *next++);
  return ~short_rest;
}
#endif

uint32_t fwd_crc32c(uint32_t before, const void *bytes, size_t count) {
#if defined(__x86_64__)
  if (has_instruction) return by_instruction(before, bytes, count);
#endif
  return fwd_crc32c_by_table(before, bytes, count);
}
