// SPDX-License-Identifier: Apache-2.0
#include "fwd_sockets.h"

#include <stddef.h>
#include <sys/socket.h>

int fwd_accept_connection(int listening) {
  return accept4(listening, NULL, NULL, SOCK_CLOEXEC);
}
