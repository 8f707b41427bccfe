// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of the system library that are missing in Swift's module of it, and the descriptors
// that a forked child must not keep.

/// Accepts the next connection of a listening socket; blocks until there is one. The caller owns
/// the returned descriptor, which is atomically marked close-on-exec on Linux. Returns -1 on
/// failure and sets `errno`.
int fwd_accept_connection(int listening);

// A child has copies of all descriptors of its parent. As long as it has them, the peers of a
// parent that was killed take it for alive, and no other process can listen at its path. So a child
// closes the descriptors below at once. If no memory is left to note one, the child keeps it.

/// Notes that the descriptor is for this process alone: a forked child closes it.
/// `fwd_close_descriptor` must close it, and nothing else.
void fwd_own_descriptor(int number);

/// Closes a descriptor, noted or not. In a forked child, do not close a descriptor that its parent
/// has noted: the number may belong to another file there.
void fwd_close_descriptor(int number);
