// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests and messages over libnats alone, of the same sizes as in the package's own rows.

#include <stdbool.h>

/// Connects a service that answers each request with `answer` bytes, three more services that
/// answer one common subject, and a client. All subjects begin with `name`. Null on failure.
void *peer_nats_begin(const char *url, const char *name, int answer, bool as_soon_as_possible);
/// Sends `count` requests of `bytes` bytes, one after the other. False if a request has no answer.
bool peer_nats_request(void *peer, int bytes, long count);
/// Sends `count` requests that three connections answer, each after the three answers to the one
/// before.
bool peer_nats_gather(void *peer, int bytes, long count);
/// Sends `count` messages without answers, and waits until the server has received all.
bool peer_nats_publish(void *peer, int bytes, long count);
