#pragma once
// What Swift's own module of the system library leaves out.

/// Waits for the next connection to a socket that listens. The descriptor that is returned belongs to the caller, and is
/// closed on `exec` from birth. -1 where there is none; `errno` says why.
int fwd_accept_connection(int listening);
