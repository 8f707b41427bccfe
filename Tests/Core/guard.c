// SPDX-License-Identifier: Apache-2.0
// Calls with 65,000 bytes by value when 64 KiB of a stack are left, above a guard page and another
// allocation below it. The process must stop in the guard page: a copy that steps over it would
// write into the other allocation first. Swift refuses such a call; this program does not.
//
// With the argument `many`, the bytes belong to many values, which are passed on the stack even on
// platforms where one large value is passed as the address of a copy.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "CForwardingShims.h"
#include "objects.h"

enum { NEIGHBOUR = 128 << 10, GUARD = 4096, STACK = 256 << 10, LEFT = 64 << 10, MARK = 0x5A, MANY = 2000 };

static char *memory;

static void say(const char *text) {
  ssize_t written = write(1, text, strlen(text));
  (void)written;
}

static void stop(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  char *address = info->si_addr;
  int is_in_guard = address >= memory + NEIGHBOUR && address < memory + NEIGHBOUR + GUARD;
  for (int i = 0; i < NEIGHBOUR && is_in_guard; i++) is_in_guard = memory[i] == MARK;
  say(is_in_guard ? "Guard: nothing below it was written.\n" : "Guard: memory below was written.\n");
  _exit(is_in_guard ? 0 : 1);
}

static uint64_t callee(uint64_t value) { return value; }

static void *call(void *plan) {
  // Some systems do not allow smaller stacks than twice the size that should be left.
  volatile char *taken = __builtin_alloca(STACK - LEFT);
  for (int i = STACK - LEFT - 1; i >= 0; i -= 512) taken[i] = 1;
  stack_t other = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
  sigaltstack(&other, NULL);
  const FWDPlanFacts *facts = fwd_plan_facts((const FWDPlan *)plan);
  FWDFrame *frame = aligned_alloc(16, facts->frame_size);
  memset(frame, 1, facts->frame_size);
  fwd_call(facts, frame, (const void *)callee);
  say("Guard: the call went through.\n");
  return NULL;
}

int main(int argument_count, char **arguments) {
  (void)arguments;
  memory = mmap(NULL, NEIGHBOUR + GUARD + STACK, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, MARK, NEIGHBOUR);
  mprotect(memory + NEIGHBOUR, GUARD, PROT_NONE);
  struct sigaction action = {.sa_sigaction = stop, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  static FWDValue values[MANY + 2] = {
      {.size = 8, .alignment = 8, .kind = FWDKindInt64, .first = FWDClassInteger},
      {.size = 65000, .alignment = 8, .kind = FWDKindAggregate, .first = FWDClassMemory}};
  size_t count = argument_count > 1 ? MANY : 1;
  for (size_t i = 1; i <= MANY && count > 1; i++)
    values[i] = (FWDValue){.size = 32,
                           .alignment = 8,
                           .kind = FWDKindAggregate,
                           .first = FWDClassMemory,
                           .component = FWDKindDouble,
                           .component_count = 4};
  FWDPlan *plan;
  size_t index;
  if (fwd_plan_create(values, count, count + 1, &plan, &index) != FWDStatusOk) return 1;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, memory + NEIGHBOUR + GUARD, STACK) != 0) return 1;
  if (pthread_create(&thread, &attributes, call, plan) != 0) return 1;
  pthread_join(thread, NULL);
  return 1;
}
