// SPDX-License-Identifier: Apache-2.0
/// C for comparison: libffi in its intended use, and functions that call back. Each repeats one operation.
#pragma once

#include <stdint.h>

/// Calls `pow` by `ffi_call`.
void peer_ffi_call(long count);

typedef struct { int64_t one, other; } peer_pair;
typedef int64_t (*peer_two)(int64_t, int64_t);
typedef double (*peer_doubles)(double, double);
typedef int (*peer_pointers)(const void *, const void *);
typedef int64_t (*peer_of_pair)(peer_pair);

/// The loops in which all functions are called.
void peer_loop_two(long count, peer_two function);
void peer_loop_doubles(long count, peer_doubles function);
void peer_loop_pointers(long count, peer_pointers function);
void peer_loop_pair(long count, peer_of_pair function);
/// The functions that a C program would write. Each adds a number that it keeps.
int64_t peer_add_two(int64_t one, int64_t other);
double peer_add_doubles(double one, double other);
int64_t peer_add_pair(peer_pair pair);
/// The closures of libffi, and of libffcall if it is installed.
peer_two peer_ffi_closure(void);
peer_two peer_ffcall_closure(void);

/// Sorts eight numbers by `qsort`.
void peer_sort(long count, int (*compare)(const void *, const void *));
/// The comparison that a C program would write.
int peer_compare(const void *a, const void *b);
