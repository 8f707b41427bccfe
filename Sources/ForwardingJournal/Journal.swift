@_exported public import ForwardingWire
import Invocations

/// A file of calls, and an object that writes each call that it forwards.
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
/// A record is appended by one `write` before the call goes on, so what a target did is in the file, whatever becomes
/// of the process. Opening a journal again finds where the last write stopped, and goes on there. Only what the
/// ``Interface`` allows may pass; all else is refused, as nothing passes that is not recorded.
///
/// Safe to use from many threads: their records stand in the order in which they were written. Two journals, of one
/// process or of two, cannot write one file.
public final class Journal: ForwardingProxy, @unchecked Sendable {
  // SAFETY: all that changes is behind `state`.

  /// The file that is written, from the root on.
  public let path: String
  /// The messages that pass.
  public let interface: Interface
  /// How it is written.
  public let options: JournalOptions
  /// What stood at the end of the file when it was opened, and was cut.
  public let cut: JournalTail

  private let reference: ObjectReference?
  private let process = OwnProcess()
  let state: JournalAccess

  /// Opens a journal, or begins one, and forwards calls to `target`, which it keeps alive unless told otherwise.
  /// Without a target, calls are written, and answered with zero.
  public init(
    at path: String, interface: Interface, to target: AnyObject? = nil, strongly: Bool = true,
    _ options: JournalOptions = JournalOptions()
  ) throws(JournalError) {
    let path = JournalFiles.file(path)
    self.path = path
    self.interface = interface
    self.options = options
    reference = target.map { ObjectReference($0, isStrong: strongly) }
    var opened = try JournalState.open(path, options)
    cut = opened.cut
    opened.state.prepare(interface)
    state = JournalAccess(opened.state)
    super.init()
  }

  deinit { if !isForked { state.withLock { $0.trim() } } }

  /// The object that calls go on to, while it lives.
  public var target: AnyObject? { reference?.object }

  /// The number that the next record has; 0 in a child that was forked.
  public var nextSequence: UInt64 { isForked ? 0 : state.withLock { $0.next } }

  /// How long the file is, up to the end of its records; 0 in a child that was forked.
  public var size: Int { isForked ? 0 : state.withLock { $0.end } }

  /// How often somebody waited for the disk, and how many records may not be there.
  var syncs: Int { state.withLock { $0.syncs } }
  var unsynced: UInt64 { state.withLock { $0.next - $0.synced } }

  /// Whether a lock of the parent's may be held for good here.
  private var isForked: Bool { process.isForked }

  func check() throws(JournalError) {
    if isForked { throw .forked(path: path) }
  }

  var hadTarget: Bool { reference != nil }

  // MARK: Forwarding

  public override func methodSignature(for selector: Selector) -> MethodSignature? {
    interface.message(selector)?.signature
  }

  public override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    guard let message = interface.message(selector) else { return .unknown }
    return message.takes(invocation.plan) ? .fits : .expects(message.signature)
  }

  public override func responds(to selector: Selector) -> Bool {
    interface.message(selector) != nil
      && (!hadTarget || Introspection.responds(target, to: selector))
  }

  public override func conforms(to description: ProtocolDescription) -> Bool {
    hadTarget && Introspection.conforms(target, to: description)
  }

  /// Writes the call, and makes it; or the other way around.
  public override func forward(_ invocation: Invocation) throws {
    let target = try liveTarget(invocation)
    guard options.moment == .afterwards else {
      try record(invocation)
      return try proceed(invocation, to: target)
    }
    var record = try begin(invocation)
    do { try proceed(invocation, to: target) } catch {
      try finish(&record, of: invocation, error)
      throw error
    }
    try finish(&record, of: invocation, nil)
  }

  /// The same for a call that is awaited. Its task is suspended while the journal waits for the disk.
  public override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    let target = try liveTarget(invocation)
    guard options.moment == .afterwards else {
      try await recordAwaiting(invocation)
      return try await proceedAwaiting(invocation, to: target)
    }
    var record = try begin(invocation)
    do { try await proceedAwaiting(invocation, to: target) } catch {
      try await finishAwaiting(&record, of: invocation, error)
      throw error
    }
    try await finishAwaiting(&record, of: invocation, nil)
  }
}
