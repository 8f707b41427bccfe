/// What C itself has: libffi, called as it is meant to be. Each function repeats one thing.
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

/// Allocations of this process so far. Counting replaces `malloc` and its like.
long peer_allocations(void);

/// Two ends of a bare `SOCK_SEQPACKET`: a thread answers each message with so many bytes. Null if that fails.
void *peer_socket_begin(int answered);
/// Sends so many messages of so many bytes, each when the answer to the one before is there; false if that fails.
bool peer_socket_ask(void *peer, int count_of_bytes, long count);
