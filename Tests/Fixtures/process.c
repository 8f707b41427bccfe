// SPDX-License-Identifier: Apache-2.0
/// Operations of the tests on their whole process.
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures.h"

#if defined(__GLIBC__)
#include <malloc.h>

long fixture_allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (long)(info.uordblks + info.hblkhd);
}
#else
long fixture_allocated_bytes(void) { return -1; }
#endif

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int fixture_deny_membarrier(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
int fixture_deny_membarrier(void) { return -1; }
#endif

static int signals;

static void count_signal(int number) {
  (void)number;
  __atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

int fixture_begin_signals(int microseconds) {
  struct sigaction action = {.sa_handler = count_signal};
  struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  return sigaction(SIGPROF, &action, NULL) | sigaction(SIGALRM, &action, NULL) |
         setitimer(ITIMER_PROF, &timer, NULL) | setitimer(ITIMER_REAL, &timer, NULL);
}

int fixture_end_signals(void) {
  struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &none, NULL);
  setitimer(ITIMER_REAL, &none, NULL);
  return __atomic_load_n(&signals, __ATOMIC_RELAXED);
}
