// SPDX-License-Identifier: Apache-2.0
#include "CForwardingShims.h"

void fwd_tuple_store(const FWDMove *moves, size_t count, const void *tuple, void *frame) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bits = fwd_word_widen(moves[i].word, (const char *)tuple + moves[i].tuple);
    memcpy((char *)frame + moves[i].frame, &bits, 8);
  }
}
