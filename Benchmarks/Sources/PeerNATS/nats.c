// SPDX-License-Identifier: Apache-2.0
#include "PeerNATS.h"

#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096, HOSTS = 3, WAIT = 2000 };

typedef struct Peer {
  natsConnection *asking, *answering, *hosts[HOSTS];
  natsSubscription *subscription, *listening, *gathered, *votes[HOSTS];
  natsInbox *inbox;
  // Each peer has its own subjects, so that no other peer receives its messages.
  char asked[32], told[32], all[32];
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

void *peer_nats_begin(const char *url, const char *name, int answer_bytes,
                      bool as_soon_as_possible) {
  Peer *peer = calloc(1, sizeof *peer);
  peer->answer = answer_bytes;
  snprintf(peer->asked, sizeof peer->asked, "%s.asked", name);
  snprintf(peer->told, sizeof peer->told, "%s.told", name);
  snprintf(peer->all, sizeof peer->all, "%s.all", name);
  peer->answering = connect_to(url, true);
  peer->asking = connect_to(url, as_soon_as_possible);
  if (!peer->answering || !peer->asking) return NULL;
  if (natsConnection_Subscribe(&peer->subscription, peer->answering, peer->asked, answer, peer) !=
      NATS_OK)
    return NULL;
  // There is a subscriber, as in the package's own rows.
  if (natsConnection_Subscribe(&peer->listening, peer->answering, peer->told, hear, peer) !=
      NATS_OK)
    return NULL;
  for (int index = 0; index < HOSTS; index++) {
    natsConnection *host = peer->hosts[index] = connect_to(url, true);
    if (!host ||
        natsConnection_Subscribe(&peer->votes[index], host, peer->all, answer, peer) != NATS_OK ||
        natsConnection_Flush(host) != NATS_OK)
      return NULL;
  }
  if (natsInbox_Create(&peer->inbox) != NATS_OK ||
      natsConnection_SubscribeSync(&peer->gathered, peer->asking, peer->inbox) != NATS_OK)
    return NULL;
  if (natsConnection_Flush(peer->asking) != NATS_OK) return NULL;
  return natsConnection_Flush(peer->answering) == NATS_OK ? peer : NULL;
}

bool peer_nats_request(void *context, int count_of_bytes, long count) {
  Peer *peer = context;
  for (long index = 0; index < count; index++) {
    natsMsg *message = NULL;
    if (natsConnection_Request(&message, peer->asking, peer->asked, bytes, count_of_bytes, WAIT) !=
        NATS_OK)
      return false;
    natsMsg_Destroy(message);
  }
  return true;
}

bool peer_nats_gather(void *context, int count_of_bytes, long count) {
  Peer *peer = context;
  for (long index = 0; index < count; index++) {
    if (natsConnection_PublishRequest(peer->asking, peer->all, peer->inbox, bytes,
                                      count_of_bytes) != NATS_OK)
      return false;
    for (int answers = 0; answers < HOSTS; answers++) {
      natsMsg *message = NULL;
      if (natsSubscription_NextMsg(&message, peer->gathered, WAIT) != NATS_OK) return false;
      natsMsg_Destroy(message);
    }
  }
  return true;
}

bool peer_nats_publish(void *context, int count_of_bytes, long count) {
  Peer *peer = context;
  for (long index = 0; index < count; index++)
    if (natsConnection_Publish(peer->asking, peer->told, bytes, count_of_bytes) != NATS_OK)
      return false;
  return natsConnection_Flush(peer->asking) == NATS_OK;
}
