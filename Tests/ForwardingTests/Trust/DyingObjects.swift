// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
import TypeEncodings

@testable import Forwarding
@testable import Invocations

// An object that is released during a call may have a `deinit` that uses the invocation in any way.
// Each test is a separate process, because a failure corrupts memory.

class SoundObject: CallObject {
  let list = [1, 2, 3]
  var isSound: Bool { list.count == 3 }
  init() {}
}

final class AnotherObject {
  var words = (0x4141_4141_4141_4141, 0x4242_4242_4242_4242, 0x4343_4343_4343_4343)
}

/// Forwards with a body that the test sets.
class HandForwarder: SoundObject, MessageForwarding {
  var body: (Invocation) throws -> Void = { _ in }
  func responds(to selector: Selector) -> Bool { true }
  func methodSignature(for selector: Selector) -> MethodSignature? { try? MethodSignature("@@:") }
  func forward(_ invocation: Invocation) throws {
    guard isSound else { exit(EXIT_FAILURE) }
    try body(invocation)
  }
}
