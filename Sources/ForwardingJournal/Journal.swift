// SPDX-License-Identifier: Apache-2.0
import Dispatch
@_exported public import ForwardingWire
import Invocations
public import TypeEncodings

/// A file of recorded calls, and a proxy that records each call before it forwards it.
///
/// ```swift
/// let deposit = try Message<Int32, Int32>("deposit:")
/// var bank = Interface("bank")
/// try bank.allow(deposit)
/// let path = "/tmp/example-\(UInt64.random(in: 0...UInt64.max)).journal"
///
/// let journal = try Journal(at: path, interface: bank, to: account)
/// try deposit(5, on: journal)
/// try deposit(7, on: journal)
/// account.balance  // 112
///
/// let other = Account()
/// try JournalReader(at: path).replay(bank, into: other)
/// other.balance  // 112
/// ```
///
/// A journal can be used from many threads: its records have the order in which they were written.
/// Two journals, in one process or in two, cannot write the same file.
public final class Journal: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: all mutable state is behind the lock of `state`.

  /// The absolute path of the file.
  public let path: String
  /// The messages that may be recorded.
  public let interface: Interface
  /// How the file is written.
  public let options: JournalOptions
  /// How many bytes were cut when the file was opened: the rest of an interrupted write.
  public let cut: Int

  private let reference: ObjectReference?
  private let process = ForkGuard()
  /// A thread waits for the disk without the lock. While files are replaced or closed, the lock is
  /// held.
  let state: Guarded<JournalState>
  let syncEnded = Condition()
  typealias Waiting<Result> = Guarded<JournalState>.Waiting<Result>
  /// The thread that waits for the disk in place of tasks.
  let queue = DispatchQueue(label: "forwarding.journal")

  /// Opens or creates a journal that forwards calls to `target`. Without a target, calls are
  /// recorded and answered with zero.
  ///
  /// - Parameter strongly: whether the target is retained.
  /// - Throws: ``JournalError/locked(path:)`` if another journal writes the file, and the errors of
  ///   a reader if it is not a whole journal.
  /// - Complexity: O(*n*) in the size of the file, which is read to its end.
  public init(
    at path: String, interface: Interface, to target: AnyObject? = nil, strongly: Bool = true,
    _ options: JournalOptions = JournalOptions()
  ) throws(JournalError) {
    let path = JournalFiles.file(path)
    self.path = path
    self.interface = interface
    self.options = options
    reference = target.map { ObjectReference($0, isStrong: strongly) }
    let opened = try JournalState.open(path, options)
    cut = opened.cut
    state = Guarded(opened.state)
    super.init()
  }

  /// The receiver of the calls; nil for a journal without one, or once it was released.
  public var target: AnyObject? { reference?.object }

  /// The sequence number of the next record; 0 in a forked child.
  public var nextSequence: UInt64 { process.isForked ? 0 : state.read { $0.next } }

  /// The size of the file up to the end of its records, in bytes; 0 in a forked child.
  public var size: Int { process.isForked ? 0 : state.read { $0.end } }

  /// In a forked child, a lock may stay locked by a thread of the parent.
  func check() throws(JournalError) {
    if process.isForked { throw .locked(path: path) }
  }

  private var hadTarget: Bool { reference != nil }

  // MARK: Forwarding

  public override func methodSignature(for selector: Selector) -> MethodSignature? {
    interface.message(selector)?.signature
  }

  public override func signature(for invocation: Invocation) -> MethodSignature? {
    invocation.selector.flatMap { interface.message($0) }.map {
      $0.takes(invocation.plan) ? invocation.methodSignature : $0.signature
    }
  }

  public override func responds(to selector: Selector) -> Bool {
    interface.message(selector) != nil
      && (!hadTarget || Introspection.responds(target, to: selector))
  }

  public override func conforms(to description: ProtocolDescription) -> Bool {
    hadTarget && Introspection.conforms(target, to: description)
  }

  /// Records the call, then forwards it.
  public override func forward(_ invocation: Invocation) throws {
    let target = try liveTarget(invocation)
    try record(invocation)
    guard let target else { return invocation.call.answerWithZero() }
    try invocation.send(to: target)
  }

  /// Records and forwards an awaited call. Its task is suspended while the journal waits for the
  /// disk.
  public override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    let target = try liveTarget(invocation)
    try await recordAwaiting(invocation)
    guard let target else { return invocation.call.answerWithZero() }
    try await invocation.sendAwaiting(to: target)
  }

  /// The target; nil for a journal without one. A call to a released target is not recorded.
  private func liveTarget(_ invocation: Invocation) throws(ForwardingError) -> AnyObject? {
    let target = target
    if target == nil, hadTarget { throw .targetGone(invocation.selector) }
    return target
  }
}
