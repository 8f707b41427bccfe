// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "CForwardingShims.h"

static FWDEventHandler current;

static const char *text_of(FWDEvent event) {
  switch (event) {
    case FWDEventFreedCallback:
      return "swift-forwarding: C called a callback that was freed, and got zero: 0x";
    case FWDEventCallbackWithoutMemory:
      return "swift-forwarding: a callback had no memory for its arguments, and C got zero: 0x";
  }
  return "swift-forwarding: 0x";
}

void fwd_write_event(FWDEvent event, const void *function) {
  char line[128];
  size_t length = strlen(text_of(event));
  memcpy(line, text_of(event), length);
  for (int shift = 44; shift >= 0; shift -= 4)
    line[length++] = "0123456789abcdef"[(uintptr_t)function >> shift & 15];
  line[length++] = '\n';
  ssize_t written = write(2, line, length);
  (void)written;
}

void fwd_set_event_handler(FWDEventHandler handler) {
  __atomic_store_n(&current, handler, __ATOMIC_RELEASE);
}

void fwd_report_event(FWDEvent event, const void *function) {
  FWDEventHandler handler = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
  (handler ? handler : fwd_write_event)(event, function);
}
