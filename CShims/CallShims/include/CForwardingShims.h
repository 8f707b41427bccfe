// SPDX-License-Identifier: Apache-2.0
/// The C core of swift-forwarding: plans, frames, calls and callbacks.
///
/// No type of libffi appears in these headers. Only the `.c` files of this folder include it, so
/// replacing it affects one folder.
#pragma once

#include "fwd_frame.h"
#include "fwd_slot.h"
#include "fwd_plan.h"
#include "fwd_place.h"
#include "fwd_call.h"
#include "fwd_callback.h"
#include "fwd_events.h"
#include "fwd_stack.h"
#include "fwd_swift.h"
#include "fwd_tuple.h"
#include "fwd_hold.h"
#include "fwd_methods.h"
#include "fwd_target.h"
#include "fwd_target_list.h"
#include "fwd_names.h"
#include "fwd_library.h"
#include "fwd_direct.h"
#include "fwd_step.h"
#include "fwd_thread.h"
#include "fwd_long_double.h"
