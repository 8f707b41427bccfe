// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Synchronization
import TypeEncodings

/// A proxy and the untyped one behind it. Successive records reuse them.
final class ProxyRecorder {
  let untyped = RecordingProxy()
  /// The type of the proxy.
  let type: ObjectIdentifier
  private var proxy: AnyObject
  /// The class of the last target that was prepared for the messages of the proxy.
  private var prepared: ObjectIdentifier?

  init<Proxy: GeneratedProxy>(_ type: Proxy.Type) {
    self.type = ObjectIdentifier(type)
    proxy = Proxy(forwardingTo: untyped)
  }

  /// Records what `body` sends to the proxy, until the proxy's end.
  func record<Proxy: GeneratedProxy>(_ body: (Proxy) throws -> Void) rethrows {
    // The cast always succeeds: the caller has compared the type.
    guard let proxy = proxy as? Proxy else { return }
    untyped.begin()
    try body(proxy)
  }

  /// Whether no other code has retained the proxy.
  var isFree: Bool { isKnownUniquelyReferenced(&proxy) }

  /// Prepares the class of a target, and returns the object that stands for it.
  func prepare<Proxy: GeneratedProxy>(_ target: Proxy.__Target, for type: Proxy.Type) -> AnyObject {
    guard let object = Proxy.__object(of: target) else { return Proxy.__prepare(target) }
    let type = ObjectIdentifier(Swift.type(of: object))
    if prepared == type { return object }
    prepared = type
    return Proxy.__prepare(target)
  }
}

/// The untyped proxy behind a proxy while it records: it stores each message and sends none.
final class RecordingProxy: ForwardingProxy, CallForwarding, @unchecked Sendable {
  typealias Failure = (selector: Selector?, error: any Error)

  // Only the thread that `owner` names accesses the other properties. It names a thread from `begin`
  // until `end`, which run on that thread. A proxy that another thread got hold of is refused.
  private let owner = Atomic<UInt>(0)
  private var calls: [KeptCall] = []
  private var failure: Failure?

  static var callForwardingClass: AnyClass { RecordingProxy.self }

  /// Starts to record messages that are sent on this thread.
  func begin() { owner.store(SystemThread.current, ordering: .relaxed) }

  /// Stops recording and returns the call, if exactly one was sent and it was recorded.
  func endWithOne() -> KeptCall? {
    guard calls.count == 1, failure == nil else { return nil }
    owner.store(0, ordering: .relaxed)
    return calls.popLast()
  }

  /// Stops recording.
  ///
  /// - Returns: the recorded calls, and the first message that was refused, with its error.
  func end() -> (calls: [KeptCall], failure: Failure?) {
    owner.store(0, ordering: .relaxed)
    defer { (calls, failure) = ([], nil) }
    return (calls, failure)
  }

  func forward(_ call: Call) throws {
    let thread = SystemThread.current
    guard thread != 0, owner.load(ordering: .relaxed) == thread else {
      throw UndoError.notRecording(call.selector)
    }
    do { calls.append(try KeptCall.recording(call)) } catch {
      if failure == nil { failure = (call.selector, error) }
      throw error
    }
    guard call.returnsValue else { return }
    // The proxy catches this and returns its default answer, or throws it to the caller.
    UnansweredMessages.note(call)
    throw ForwardingError.nobodyAnswered(call.selector)
  }

  override func forward(_ invocation: Invocation) throws { try forward(invocation.call) }

  /// Accepts any message: the types are those of the protocol, whose methods the targets have.
  override func signature(for invocation: Invocation) -> MethodSignature? {
    invocation.methodSignature
  }

  override func responds(to selector: Selector) -> Bool { true }
}
