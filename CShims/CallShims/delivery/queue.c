// SPDX-License-Identifier: Apache-2.0
#include "CForwardingShims.h"

// A closure of Swift is a function and its context, which the function gets in a register of its
// own. Swift cannot store a closure that does not escape; here it is stored while its caller waits.

typedef __attribute__((swiftcall)) void FWDBody(__attribute__((swift_context)) void *context);

typedef struct FWDWork {
  FWDBody *body;
  void *context;
} FWDWork;

static void run(void *work) { ((FWDWork *)work)->body(((FWDWork *)work)->context); }

__attribute__((swiftcall)) void fwd_queue_run(void *queue, FWDQueueSync sync, FWDBody *body, void *context);

/// Runs a closure of Swift on a queue, by the function `sync`, and returns when it is done. The
/// closure has no parameters and no result, and does not throw.
__attribute__((swiftcall)) void fwd_queue_run(void *queue, FWDQueueSync sync, FWDBody *body, void *context) {
  FWDWork work = {body, context};
  sync(queue, &work, run);
}
