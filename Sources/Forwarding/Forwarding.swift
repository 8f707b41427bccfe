// SPDX-License-Identifier: Apache-2.0
// The one name of another module that `import Forwarding` shows: a message without a result is a
// `Message<NoResult>`. Encodings, invocations and functions by name are imports of their own.
//
// It also lets the code of proxies, which names types of Invocations with their module, find the members
// of these types where the upcoming feature MemberImportVisibility is on.
@_exported public import struct Invocations.NoResult
