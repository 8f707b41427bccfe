// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "PeerBus.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>

typedef struct Peer {
  sd_bus *asking, *answering;
} Peer;

static int add(sd_bus_message *message, void *context, sd_bus_error *error) {
  (void)context, (void)error;
  int64_t a, c;
  int32_t b;
  int status = sd_bus_message_read(message, "xix", &a, &b, &c);
  return status < 0 ? status : sd_bus_reply_method_return(message, "x", a + b + c);
}

static const sd_bus_vtable methods[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Add", "xix", "x", add, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static void *answer(void *context) {
  Peer *peer = context;
  sd_id128_t number;
  if (sd_id128_randomize(&number) < 0 || sd_bus_set_server(peer->answering, 1, number) < 0 ||
      sd_bus_set_anonymous(peer->answering, 1) < 0 || sd_bus_start(peer->answering) < 0 ||
      sd_bus_add_object_vtable(peer->answering, NULL, "/bank", "org.example.Bank", methods, NULL) <
          0) {
    return NULL;
  }
  while (true) {
    int status = sd_bus_process(peer->answering, NULL);
    if (status < 0) return NULL;
    if (status == 0 && sd_bus_wait(peer->answering, UINT64_MAX) < 0) return NULL;
  }
}

void *peer_bus_begin(void) {
  Peer *peer = calloc(1, sizeof *peer);
  int ends[2];
  pthread_t thread;
  if (!peer || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends)) return NULL;
  if (sd_bus_new(&peer->asking) < 0 || sd_bus_new(&peer->answering) < 0 ||
      sd_bus_set_fd(peer->asking, ends[0], ends[0]) < 0 ||
      sd_bus_set_fd(peer->answering, ends[1], ends[1]) < 0 ||
      sd_bus_set_anonymous(peer->asking, 1) < 0 ||
      pthread_create(&thread, NULL, answer, peer) != 0) {
    return NULL;
  }
  pthread_detach(thread);
  return sd_bus_start(peer->asking) < 0 ? NULL : peer;
}

bool peer_bus_ask(void *context, long count) {
  Peer *peer = context;
  for (long index = 0; index < count; index++) {
    sd_bus_message *message = NULL;
    int64_t sum = 0;
    int status = sd_bus_call_method(peer->asking, NULL, "/bank", "org.example.Bank", "Add", NULL,
                                    &message, "xix", (int64_t)index, (int32_t)7, (int64_t)1);
    if (status >= 0) status = sd_bus_message_read(message, "x", &sum);
    sd_bus_message_unref(message);
    if (status < 0 || sum != index + 8) return false;
  }
  return true;
}
