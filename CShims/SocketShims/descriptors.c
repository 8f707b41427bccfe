// SPDX-License-Identifier: Apache-2.0
/// The descriptors that belong to this process and not to its children.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "fwd_sockets.h"

/// A leaf lock: while it is held, no other is taken. It is held while a descriptor is closed, so
/// that a child never closes a number that has another owner by then.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *numbers;
static size_t count, room;

static void enter_child(void) {
  for (size_t i = 0; i < count; i++) close(numbers[i]);
  count = 0;
  pthread_mutex_unlock(&lock);
}

static void wait_for_lock(void) { pthread_mutex_lock(&lock); }

static void release_lock(void) { pthread_mutex_unlock(&lock); }

static void watch_forks(void) { pthread_atfork(wait_for_lock, release_lock, enter_child); }

void fwd_own_descriptor(int number) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&lock);
  if (count == room) {
    size_t more = room ? 2 * room : 16;
    int *moved = realloc(numbers, more * sizeof *numbers);
    if (moved) {
      numbers = moved;
      room = more;
    }
  }
  if (count < room) numbers[count++] = number;
  pthread_mutex_unlock(&lock);
}

void fwd_close_descriptor(int number) {
  pthread_mutex_lock(&lock);
  for (size_t i = count; i-- > 0;) {
    if (numbers[i] != number) continue;
    numbers[i] = numbers[--count];
    break;
  }
  close(number);
  pthread_mutex_unlock(&lock);
}
