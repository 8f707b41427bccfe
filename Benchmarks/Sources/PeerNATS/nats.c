#include "PeerNATS.h"

#include <nats/nats.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

typedef struct Peer {
  natsConnection *asking, *answering;
  natsSubscription *subscription, *listening;
  int answer;
} Peer;

static const char bytes[MOST];

static void answer(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                   void *closure) {
  (void)subscription;
  const char *to = natsMsg_GetReply(message);
  if (to) natsConnection_Publish(connection, to, bytes, ((Peer *)closure)->answer);
  natsMsg_Destroy(message);
}

static void hear(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                 void *closure) {
  (void)connection, (void)subscription, (void)closure;
  natsMsg_Destroy(message);
}

static natsConnection *connect_to(const char *url, bool as_soon_as_possible) {
  natsOptions *options = NULL;
  natsConnection *connection = NULL;
  if (natsOptions_Create(&options) != NATS_OK) return NULL;
  natsOptions_SetURL(options, url);
  natsOptions_SetSendAsap(options, as_soon_as_possible);
  if (natsConnection_Connect(&connection, options) != NATS_OK) connection = NULL;
  natsOptions_Destroy(options);
  return connection;
}

void *peer_nats_begin(const char *url, int answer_bytes, bool as_soon_as_possible) {
  Peer *peer = calloc(1, sizeof *peer);
  peer->answer = answer_bytes;
  peer->answering = connect_to(url, true);
  peer->asking = connect_to(url, as_soon_as_possible);
  if (!peer->answering || !peer->asking) return NULL;
  if (natsConnection_Subscribe(&peer->subscription, peer->answering, "bare", answer, peer) != NATS_OK)
    return NULL;
  // Somebody listens, as in the rows beside it.
  if (natsConnection_Subscribe(&peer->listening, peer->answering, "told", hear, peer) != NATS_OK)
    return NULL;
  return natsConnection_Flush(peer->answering) == NATS_OK ? peer : NULL;
}

bool peer_nats_request(void *context, int count_of_bytes, long count) {
  Peer *peer = context;
  for (long index = 0; index < count; index++) {
    natsMsg *message = NULL;
    if (natsConnection_Request(&message, peer->asking, "bare", bytes, count_of_bytes, 2000) !=
        NATS_OK)
      return false;
    natsMsg_Destroy(message);
  }
  return true;
}

bool peer_nats_publish(void *context, int count_of_bytes, long count) {
  Peer *peer = context;
  for (long index = 0; index < count; index++)
    if (natsConnection_Publish(peer->asking, "told", bytes, count_of_bytes) != NATS_OK) return false;
  return natsConnection_Flush(peer->asking) == NATS_OK;
}
