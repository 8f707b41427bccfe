#pragma once
// Requests and messages over libnats and nothing else, of as many bytes as those of the rows beside them.

#include <stdbool.h>

/// Connects one side that answers each request with so many bytes, three more that all answer the same one, and one that
/// asks, on subjects that begin with a name. Null if that fails.
void *peer_nats_begin(const char *url, const char *name, int answer, bool as_soon_as_possible);
/// Sends so many requests of so many bytes, one after the other; false if one has no answer.
bool peer_nats_request(void *peer, int bytes, long count);
/// Sends so many requests that three connections answer, each when the three answers to the one before are there.
bool peer_nats_gather(void *peer, int bytes, long count);
/// Sends so many messages that nobody answers, and waits until the server has all.
bool peer_nats_publish(void *peer, int bytes, long count);
