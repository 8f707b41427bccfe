#pragma once
// System calls that Swift's module of the C library does not offer.

/// Waits for the next connection to a listening socket. Returns a descriptor that the caller owns,
/// which is closed on `exec` from the beginning; -1 on failure, with `errno` set.
int fwd_accept_connection(int listening);
