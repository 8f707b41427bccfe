// SPDX-License-Identifier: Apache-2.0
/// Re-exports the modules for type encodings and invocations.
@_exported public import Invocations
@_exported public import TypeEncodings
