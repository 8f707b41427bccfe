// SPDX-License-Identifier: Apache-2.0
#include "CForwardingShims.h"

uint64_t fwd_word_widen(FWDWord word, const char *value) {
  switch (word) {
    case FWDWordWhole: break;
    case FWDWordAddress: return (uint64_t)value;
    case FWDWordText: return ((const uint64_t *)value)[1] ? (uint64_t)value : 0;
    case FWDWordNowhere: return FWD_NO_MEMORY;
    case FWDWordInt8: return (uint64_t)(int64_t)*(const int8_t *)value;
    case FWDWordUInt8:
    case FWDWordBool: return *(const uint8_t *)value;
    case FWDWordInt16: return (uint64_t)(int64_t)*(const int16_t *)value;
    case FWDWordUInt16: return *(const uint16_t *)value;
    case FWDWordInt32: return (uint64_t)(int64_t)*(const int32_t *)value;
    case FWDWordUInt32: return *(const uint32_t *)value;
  }
  uint64_t bits;
  memcpy(&bits, value, sizeof bits);
  return bits;
}

void fwd_tuple_store(const FWDMove *moves, size_t count, const void *tuple, void *frame) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bits = fwd_word_widen(moves[i].word, (const char *)tuple + moves[i].tuple);
    memcpy((char *)frame + moves[i].frame, &bits, 8);
  }
}

void fwd_word_narrow(FWDWord word, uint64_t bits, char *value) {
  switch (word) {
    case FWDWordWhole:
    case FWDWordText:
    case FWDWordAddress: memcpy(value, &bits, 8); return;
    case FWDWordNowhere: return;
    case FWDWordInt8:
    case FWDWordUInt8: memcpy(value, &bits, 1); return;
    // Any byte except 0 is true: C code that passes 2 for a `_Bool` must not create an invalid
    // Swift Bool.
    case FWDWordBool: *value = (uint8_t)bits != 0; return;
    case FWDWordInt16:
    case FWDWordUInt16: memcpy(value, &bits, 2); return;
    case FWDWordInt32:
    case FWDWordUInt32: memcpy(value, &bits, 4); return;
  }
}
