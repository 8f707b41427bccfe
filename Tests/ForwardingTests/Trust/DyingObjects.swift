import ForwardingTestSupport
import Foundation
import Synchronization
import Testing

@testable import Forwarding
@testable import Invocations

// What dies while a call is under way may have a `deinit` that knows the invocation, and does with it
// what it likes. Each test is a process of its own: where one of these fails, memory is corrupted.

class SoundObject: CallObject {
  let list = [1, 2, 3]
  var isSound: Bool { list.count == 3 }
  init() {}
}

final class AnotherObject {
  var words = (0x4141_4141_4141_4141, 0x4242_4242_4242_4242, 0x4343_4343_4343_4343)
}

/// Forwards by hand, with a body that the test gives.
class HandForwarder: SoundObject, MessageForwarding {
  var body: (Invocation) throws -> Void = { _ in }
  func responds(to selector: Selector) -> Bool { true }
  func methodSignature(for selector: Selector) -> MethodSignature? { try? MethodSignature("@@:") }
  func forward(_ invocation: Invocation) throws {
    guard isSound else { exit(EXIT_FAILURE) }
    try body(invocation)
  }
}
