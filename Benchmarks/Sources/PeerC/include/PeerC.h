/// What C itself has: libffi, called as it is meant to be. Each function repeats one thing.
#pragma once

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
