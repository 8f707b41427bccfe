// SPDX-License-Identifier: Apache-2.0
/// C for comparison: libffi in its intended use, and `qsort`. Each function repeats one operation.
#pragma once

/// Calls `pow` by `ffi_call`.
void peer_ffi_call(long count);
/// Calls a libffi closure of two numbers.
void peer_ffi_closure(long count);

/// Sorts eight numbers by `qsort`.
void peer_sort(long count, int (*compare)(const void *, const void *));
/// The comparison that a C program would write.
int peer_compare(const void *a, const void *b);
