// SPDX-License-Identifier: Apache-2.0
// Callees and callers of each case, for a compiler other than the one of the core.
#include <stdarg.h>

#include "cases.h"

#define SEE(n, T) see(&p##n, sizeof p##n);
#define CALLEE(name, R, ...)                                                                       \
  static R name(EACH(PARAMETER, COMMA, __VA_ARGS__)) {                                             \
    EACH(SEE, NONE, __VA_ARGS__)                                                                   \
    R result;                                                                                      \
    due_result(&result, sizeof result);                                                            \
    return result;                                                                                 \
  }
CASES(CALLEE)

#define SEE_NEXT(n, T)                                                                             \
  {                                                                                                \
    T value = va_arg(list, T);                                                                     \
    see(&value, sizeof value);                                                                     \
  }
#define VARIADIC_CALLEE(name, R, F, ...)                                                           \
  static R name(F fixed, ...) {                                                                    \
    va_list list;                                                                                  \
    va_start(list, fixed);                                                                         \
    see(&fixed, sizeof fixed);                                                                     \
    EACH(SEE_NEXT, NONE, __VA_ARGS__)                                                              \
    va_end(list);                                                                                  \
    R result;                                                                                      \
    due_result(&result, sizeof result);                                                            \
    return result;                                                                                 \
  }
VARIADIC_CASES(VARIADIC_CALLEE)

#define ARGUMENT(n, T)                                                                             \
  T p##n;                                                                                          \
  next_argument(&p##n, sizeof p##n);
#define PASSED(n, T) p##n
#define TYPE(n, T) T
#define CALLER(name, R, ...)                                                                       \
  static void call_##name(const void *function) {                                                  \
    EACH(ARGUMENT, NONE, __VA_ARGS__)                                                              \
    R result = ((R(*)(EACH(TYPE, COMMA, __VA_ARGS__)))function)(EACH(PASSED, COMMA, __VA_ARGS__)); \
    see_result(&result, sizeof result);                                                            \
  }
CASES(CALLER)

#define VARIADIC_CALLER(name, R, F, ...)                                                           \
  static void call_##name(const void *function) {                                                  \
    F fixed;                                                                                       \
    next_argument(&fixed, sizeof fixed);                                                           \
    EACH(ARGUMENT, NONE, __VA_ARGS__)                                                              \
    R result = ((R(*)(F, ...))function)(fixed, EACH(PASSED, COMMA, __VA_ARGS__));                  \
    see_result(&result, sizeof result);                                                            \
  }
VARIADIC_CASES(VARIADIC_CALLER)

#define FOREIGN(name, ...) {(const void *)name, call_##name},
const Foreign foreign[] = {CASES(FOREIGN) VARIADIC_CASES(FOREIGN)};
