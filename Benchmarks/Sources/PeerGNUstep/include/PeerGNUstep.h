// SPDX-License-Identifier: Apache-2.0
/// GNUstep's Foundation.
#pragma once

/// Makes an `NSInvocation`, sets its argument, invokes it, and reads the result.
void peer_gnustep_new(long count);
