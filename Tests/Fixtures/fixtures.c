// SPDX-License-Identifier: Apache-2.0
#include "fixtures.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define HIDDEN void *self, void *selector
#define UNUSED (void)self, (void)selector

static int calls;
int fixture_calls(void) { return calls; }

/// Returns the number of vector registers that hold arguments, which the caller of a variadic
/// function says on x86-64; 0 on other processors.
int f_vector_count(int number, ...);
#if defined(__x86_64__)
__asm__(
    ".text\n.type f_vector_count, @function\n"
    "f_vector_count:\n  endbr64\n  movzbl %al, %eax\n  ret\n"
    ".size f_vector_count, . - f_vector_count\n");
#else
int f_vector_count(int number, ...) { return number * 0; }
#endif

static double f_padded_last(double d, int a, int b, int c, int e, int f, FixturePadded p, double g) {
  return a + b + c + e + f == 15 ? d + p.number + g : -1;
}
static double f_padded_stack(double d, int a, int b, int c, int e, int f, int g, FixturePadded p) {
  return a + b + c + e + f + g == 21 ? d + p.number : -1;
}
static FixturePadded f_padded_twice(FixturePadded p) { return (FixturePadded){2 * p.number}; }
double fixture_call_padded(const void *function) {
  __typeof__(f_padded_last) *call = (__typeof__(f_padded_last) *)function;
  return call(1.5, 1, 2, 3, 4, 5, (FixturePadded){40}, 0.25);
}
int fixture_call_long_double(const void *function, int count) {
  int others = 0;
  for (int i = 0; i < count; i++)
    if (((long double (*)(long double))function)(1.5L) != 0) others++;
  return others;
}
int fixture_call_padded_twice(const void *function) {
  __typeof__(f_padded_twice) *call = (__typeof__(f_padded_twice) *)function;
  return call((FixturePadded){21}).number;
}

static void m_nothing(HIDDEN) { UNUSED, calls++; }
static signed char m_char(HIDDEN) { return UNUSED, -5; }
static FixtureRectangle m_rectangle(HIDDEN, FixtureRectangle r) { return UNUSED, r; }
static char *m_loop(HIDDEN, char *text) { return UNUSED, text[0]++, text; }
static void *m_same(HIDDEN, void *object) { return UNUSED, object; }
// `char` is unsigned on AArch64.
typedef signed char Char;
static int m_chars(HIDDEN, Char a, Char b, Char c, Char d, Char e, Char f, Char g, Char h) {
  return UNUSED, a + b + c + d + e + f + g + h;
}
static long double m_long_doubles(HIDDEN, char a, long double b, char c, long double d, char e,
                                  long double f) {
  return UNUSED, a * b + c * d + e * f;
}
static double f_average(int count, ...) {
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; i++) sum += va_arg(list, double);
  va_end(list);
  return count ? sum / count : 0;
}
static int f_fail(int code) { return errno = code, -1; }
static unsigned char f_two(void) { return 2; }
static long f_apply(long (*function)(long), long value) { return function(value); }

typedef struct Large { int64_t words[1126]; } Large;
static int64_t f_last_of_large(Large large) { return large.words[1125]; }
static int64_t f_apply_large(int64_t (*function)(Large), int64_t value) {
  Large large;
  memset(&large, 0, sizeof large);
  large.words[1125] = value;
  return function(large);
}
static int64_t f_last_of_huge(struct { int64_t words[8000]; } huge) { return huge.words[7999]; }
static int64_t m_last_of_large(HIDDEN, Large large) { return UNUSED, large.words[1125]; }

#define FIXTURE(name, encoding) {#name, encoding, (const void *)name}

static const Fixture fixtures[] = {
    FIXTURE(m_nothing, "v@:"),
    FIXTURE(m_char, "c@:"),
    FIXTURE(m_rectangle,
            "{FixtureRectangle={FixturePoint=dd}{FixturePoint=dd}}@:"
            "{FixtureRectangle={FixturePoint=dd}{FixturePoint=dd}}"),
    FIXTURE(m_loop, "*@:*"),
    FIXTURE(m_same, "@@:@"),
    FIXTURE(m_chars, "i@:cccccccc"),
    FIXTURE(m_long_doubles, "D@:cDcDcD"),
    FIXTURE(f_vector_count, "ii"),
    FIXTURE(f_average, "dif"),
    FIXTURE(f_fail, "ii"),
    FIXTURE(f_two, "B"),
    FIXTURE(f_apply, "q^?q"),
    FIXTURE(f_last_of_large, "q{Large=[1126q]}"),
    FIXTURE(f_apply_large, "q^?q"),
    FIXTURE(f_last_of_huge, "q{Huge=[8000q]}"),
    FIXTURE(m_last_of_large, "q@:{Large=[1126q]}"),
    FIXTURE(f_padded_last, "ddiiiii{FixturePadded=[0t]i}d"),
    FIXTURE(f_padded_stack, "ddiiiiii{FixturePadded=[0t]i}"),
    FIXTURE(f_padded_twice, "{FixturePadded=[0t]i}{FixturePadded=[0t]i}"),
};

long fixture_count(void) { return sizeof fixtures / sizeof fixtures[0]; }
Fixture fixture_at(long index) { return fixtures[index]; }

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

int fixture_fork(const void *function, int *out_pipe) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    char byte;
    close(ends[1]);
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(((int (*)(void))function)());
  }
  close(ends[0]);
  *out_pipe = ends[1];
  return (int)child;
}

int fixture_is_sanitized(void) {
  return fixture_is_address_sanitized() || fixture_is_thread_sanitized();
}

int fixture_is_address_sanitized(void) {
#if __has_feature(address_sanitizer)
  return 1;
#else
  return 0;
#endif
}

int fixture_is_thread_sanitized(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return 1;
#endif
#endif
  return 0;
}

int fixture_let_child_go(int child, int pipe) {
  int status = 0;
  close(pipe);
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

int fixture_deny_write_execute(void) {
#if defined(__linux__)
  // 65 is PR_SET_MDWE, and 1 is PR_MDWE_REFUSE_EXEC_GAIN: headers before Linux 6.3 have no names
  // for them.
  return prctl(65, 1, 0, 0, 0) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

#include <dlfcn.h>
#if defined(__GLIBC__)
#include <execinfo.h>

int fixture_backtrace(void **out, int limit) { return backtrace(out, limit); }
#else
int fixture_backtrace(void **out, int limit) { return (void)out, (void)limit, 0; }
#endif

const char *fixture_image(void) {
  Dl_info info;
  return dladdr((const void *)fixture_image, &info) ? info.dli_fname : NULL;
}
