// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of the system library that are missing in Swift's module of it.

/// Accepts the next connection of a listening socket; blocks until there is one. The caller owns
/// the returned descriptor, which is atomically marked close-on-exec on Linux. Returns -1 on
/// failure and sets `errno`.
int fwd_accept_connection(int listening);
