// SPDX-License-Identifier: Apache-2.0
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
/// A Boost.Signals2 signal with `targets` slots; with weakly tracked objects; and a vector of
/// std::weak_ptr, each locked before its object is called.
void peer_boost_signal(int targets, long count);
void peer_boost_tracked(int targets, long count);
void peer_weak_pointers(int targets, long count);
#ifdef __cplusplus
}
#endif
