// SPDX-License-Identifier: Apache-2.0
#include "fwd_sockets.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>

int fwd_accept_connection(int listening) {
#if defined(__linux__)
  return accept4(listening, NULL, NULL, SOCK_CLOEXEC);
#else
  int number = accept(listening, NULL, NULL);
  if (number >= 0) fcntl(number, F_SETFD, FD_CLOEXEC);
  return number;
#endif
}
