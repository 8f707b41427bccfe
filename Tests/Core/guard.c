// Calls with 65,000 bytes by value on a stack of 64 KiB, below which a guard lies, and below that
// somebody else's memory. The process must stop in the guard: a copy that steps over it would write
// into that memory first. Swift refuses such a call; here nobody does.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "CForwardingShims.h"
#include "objects.h"

enum { NEIGHBOUR = 128 << 10, GUARD = 4096, STACK = 64 << 10, MARK = 0x5A };

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
  stack_t other = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
  sigaltstack(&other, NULL);
  const FWDPlanFacts *facts = fwd_plan_facts((const FWDPlan *)plan);
  FWDFrame *frame = aligned_alloc(16, facts->frame_size);
  memset(frame, 1, facts->frame_size);
  fwd_call(facts, frame, (const void *)callee);
  say("Guard: the call went through.\n");
  return NULL;
}

int main(void) {
  memory = mmap(NULL, NEIGHBOUR + GUARD + STACK, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, MARK, NEIGHBOUR);
  mprotect(memory + NEIGHBOUR, GUARD, PROT_NONE);
  struct sigaction action = {.sa_sigaction = stop, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  FWDValue values[] = {
      {.size = 8, .alignment = 8, .kind = FWDKindInt64, .first = FWDClassInteger},
      {.size = 65000, .alignment = 8, .kind = FWDKindAggregate, .first = FWDClassMemory}};
  FWDPlan *plan;
  size_t index;
  if (fwd_plan_create(values, 1, 1, &plan, &index) != FWDStatusOk) return 1;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory + NEIGHBOUR + GUARD, STACK);
  pthread_create(&thread, &attributes, call, plan);
  pthread_join(thread, NULL);
  return 1;
}
