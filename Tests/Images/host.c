// SPDX-License-Identifier: Apache-2.0
// Loads plug-ins into one process, and has them deliver one after the other and all at once.
//   host local|global PLUG-IN...
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PLUG_INS_MAX = 4, MESSAGES = 500, EXPECTED = MESSAGES * 3 * 8 };

typedef int32_t (*Deliver)(int32_t);

static void *deliver(void *function) {
  for (int i = 0; i < 3; i++)
    if (((Deliver)function)(MESSAGES) != EXPECTED) return (void *)1;
  return NULL;
}

int main(int count, char **arguments) {
  int flags = RTLD_NOW | (strcmp(arguments[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
  Deliver plug_ins[PLUG_INS_MAX];
  pthread_t threads[PLUG_INS_MAX];
  int loaded = count - 2;
  for (int i = 0; i < loaded; i++) {
    void *image = dlopen(arguments[2 + i], flags);
    plug_ins[i] = image ? (Deliver)dlsym(image, "plugin_deliver") : NULL;
    if (!plug_ins[i]) return fprintf(stderr, "host: %s\n", dlerror()), 2;
    if (deliver((void *)plug_ins[i])) return fprintf(stderr, "host: wrong sum\n"), 1;
  }
  for (int i = 0; i < loaded; i++)
    pthread_create(&threads[i], NULL, deliver, (void *)plug_ins[i]);
  void *failed = NULL;
  for (int i = 0; i < loaded; i++) {
    void *one;
    pthread_join(threads[i], &one);
    if (one) failed = one;
  }
  return failed ? 1 : 0;
}
