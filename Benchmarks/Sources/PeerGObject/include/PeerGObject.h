// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Emits a GObject signal with one pointer and `targets` handlers, `count` times.
void peer_gobject_emit(int targets, long count);
