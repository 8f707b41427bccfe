// SPDX-License-Identifier: Apache-2.0
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
/// Emits a Qt signal with one int and `targets` slots of objects, `count` times.
void peer_qt_emit(int targets, long count);
#ifdef __cplusplus
}
#endif
