// SPDX-License-Identifier: Apache-2.0
#pragma once

#pragma clang assume_nonnull begin

/// Returns the file that an open library was loaded from, as long as the library is open. Returns
/// NULL for the program itself, and where the loader does not tell.
const char *_Nullable fwd_library_file(void *handle);

#pragma clang assume_nonnull end
