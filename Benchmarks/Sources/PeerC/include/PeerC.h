// SPDX-License-Identifier: Apache-2.0
/// Plain C for comparison: libffi, in its intended use. Each function repeats one operation.
#pragma once

#include <stdbool.h>

void peer_ffi_object(long count);
void peer_ffi_three(long count);
void peer_ffi_integers(long count);
void peer_ffi_doubles(long count);
void peer_ffi_rectangle(long count);
void peer_ffi_ten(long count);
void peer_ffi_closure(long count);
void peer_ffi_closure_three(long count);

/// The number of allocations in this process so far. Counting replaces `malloc` and its relatives.
long peer_allocations(void);

/// Connects two ends of a plain `SOCK_SEQPACKET` socket. A thread answers each message with
/// `answered` bytes. Null on failure.
void *peer_socket_begin(int answered);
/// Sends `count` messages of `count_of_bytes` bytes, each after the answer to the one before. False
/// on failure.
bool peer_socket_ask(void *peer, int count_of_bytes, long count);
