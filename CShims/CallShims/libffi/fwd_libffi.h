// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seam to libffi, which makes the calls of processors that this package does not know, the
// function pointers where no trampoline can be mapped, and the calls that tests compare with those
// of the direct engine. Frames are the same for both engines: values are loaded and stored by their
// slots, and libffi finds their registers by itself. It knows no unions, bit-fields or arrays, so
// it is told the class of each word. What it passes wrong, `fwd_libffi_refuses` lists.

#include <ffi.h>

#include "../callback/fwd_callback_internal.h"

/// The size of the memory that `fwd_libffi_prepare` fills.
size_t fwd_libffi_size(const FWDPlan *plan);

/// Describes the calls of a plan, which libffi does not refuse, in `memory`, aligned to 8. The cif
/// points into the memory, and is valid as long as it is there. It does not refer to the plan.
ffi_cif *fwd_libffi_prepare(const FWDPlan *plan, void *memory);
