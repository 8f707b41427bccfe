// SPDX-License-Identifier: Apache-2.0
/// GNUstep's Foundation. Each function repeats one operation `count` times.
#pragma once

void peer_gnustep_begin(void);
void peer_gnustep_invoke(long count);
void peer_gnustep_set3(long count);
void peer_gnustep_create(long count);
void peer_gnustep_parse(long count);
/// A message to a proxy whose `forwardInvocation:` sends it to `targets` weak targets.
void peer_gnustep_forward(int targets, long count);
/// A notification with `targets` observers.
void peer_gnustep_notify(int targets, long count);
