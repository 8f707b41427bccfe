#pragma once
// Requests and messages over libnats and nothing else, of as many bytes as those of the rows beside them.

#include <stdbool.h>

/// Connects one side that answers each request with so many bytes, and one that asks. Null if that fails.
void *peer_nats_begin(const char *url, int answer, bool as_soon_as_possible);
/// Sends so many requests of so many bytes, one after the other; false if one has no answer.
bool peer_nats_request(void *peer, int bytes, long count);
/// Sends so many messages that nobody answers, and waits until the server has all.
bool peer_nats_publish(void *peer, int bytes, long count);
