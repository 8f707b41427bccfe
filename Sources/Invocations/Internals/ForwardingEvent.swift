import CForwardingShims

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Something that went wrong, or is probably a mistake, where there is no sender to be told.
///
/// An event is a line on stderr unless the program wants it elsewhere:
///
/// ```swift
/// ForwardingEvent.destination = .handler { event in logger.warning("\(event)") }
/// ```
///
/// A proxy with an `onDiagnostic` of its own reports to that alone. No lock is held when a handler
/// is called, on whatever thread the event comes up.
public struct ForwardingEvent: Sendable, CustomStringConvertible {
  /// What kinds of events there are.
  @nonexhaustive
  public enum Kind: String, Hashable, Sendable {
    /// A target or a callback threw, and no sender gets the error: it had gone on, it gets an earlier
    /// error, or it is C.
    case failed
    /// A message without a result reached targets, and none of them knows its selector.
    case unanswered
    /// A target died before its first message.
    case diedUnreached
    /// A proxy has more targets than it was told to expect.
    case tooManyTargets
    /// A class declares a method wrongly.
    case wrongDeclaration
    /// C called a function pointer whose callback is gone.
    case deadCallback
    /// C called a message callback whose object has died.
    case deadReceiver
    /// A callback had no memory for its arguments.
    case outOfMemory
    /// An undo stack left a step out, or could not record one.
    case undo
  }

  /// What happened.
  public let kind: Kind
  /// The message's name, if there is one.
  public let selector: Selector?
  /// The class of the object concerned, if it is known.
  public let type: SwiftType?
  /// The error that no sender is told of.
  public let error: (any Error)?
  /// One line that says it all. It is made when it is asked for: where many things go wrong, most lines are not.
  public var description: String {
    let text = text()
    // Errors of others may have more lines. Each kind of line end has one of these bytes.
    let isOneLine = text.utf8.allSatisfy { !(0x0A...0x0D ~= $0) && $0 != 0xC2 && $0 != 0xE2 }
    return isOneLine ? text : String(text.map { $0.isNewline ? " " : $0 })
  }

  private let text: @Sendable () -> String

  package init(
    _ kind: Kind, selector: Selector? = nil, type: SwiftType? = nil, error: (any Error)? = nil,
    _ text: @autoclosure @escaping @Sendable () -> String
  ) {
    self.kind = kind
    self.selector = selector
    self.type = type
    self.error = error
    self.text = text
  }
}

extension ForwardingEvent {
  package static func failed(
    _ selector: Selector, _ type: AnyClass?, _ error: any Error
  ) -> ForwardingEvent {
    let type = type.map { SwiftType($0) }
    return ForwardingEvent(
      .failed, selector: selector, type: type, error: error,
      "-[\(type.map { "\($0)" } ?? "?") \(selector)] threw, and its sender is not told: \(error)")
  }

  /// - Parameter classes: the classes of the targets, whose methods suggest a name.
  package static func unanswered(
    _ selector: Selector, by type: AnyClass, with classes: [AnyClass]
  ) -> ForwardingEvent {
    let type = SwiftType(type)
    return ForwardingEvent(
      .unanswered, selector: selector, type: type,
      "no target of a \(type) answers '\(selector)'"
        + (nearestName(to: selector, in: classes).map { "; did you mean '\($0)'?" } ?? ""))
  }

  private static func nearestName(to selector: Selector, in classes: [AnyClass]) -> String? {
    var names: [String] = []
    var seen: Set<ObjectIdentifier> = []
    for type in classes.prefix(100) where seen.insert(ObjectIdentifier(type)).inserted {
      names += MethodTable.of(type).allSelectorNames
    }
    return NearestName.to(selector.name, among: names)
  }

  /// The last of its kind that a proxy reports.
  package static func unansweredNoMore(by type: AnyClass, count: Int) -> ForwardingEvent {
    let type = SwiftType(type)
    return ForwardingEvent(
      .unanswered, type: type,
      "no target of a \(type) answers \(count) selectors and more; no more of them are reported")
  }

  package static func diedUnreached(_ type: SwiftType) -> ForwardingEvent {
    ForwardingEvent(
      .diedUnreached, type: type,
      "a target of class \(type) died before its first message; keep it, or add it strongly")
  }

  package static func tooManyTargets(count: Int, limit: Int) -> ForwardingEvent {
    ForwardingEvent(
      .tooManyTargets, "\(count) targets are registered, and \(limit) were expected")
  }

  static func wrongDeclaration(_ error: DeclarationError) -> ForwardingEvent {
    ForwardingEvent(
      .wrongDeclaration, selector: error.selector, type: error.type,
      error: error.cause, "\(error)")
  }

  static func failed(inCallback error: any Error) -> ForwardingEvent {
    ForwardingEvent(.failed, error: error, "a callback threw, and C got zero: \(error)")
  }

  static func deadCallback(at address: UInt) -> ForwardingEvent {
    ForwardingEvent(
      .deadCallback,
      "the function pointer 0x\(String(address, radix: 16)) was called, but its callback is gone; "
        + "the call answered zero")
  }

  static func deadReceiver(_ selector: Selector, _ type: AnyClass) -> ForwardingEvent {
    let type = SwiftType(type)
    return ForwardingEvent(
      .deadReceiver, selector: selector, type: type,
      "C called the callback of -[\(type) \(selector)], whose object is gone; it gets zero")
  }

  package static func undo(_ text: String) -> ForwardingEvent {
    ForwardingEvent(.undo, "undo: \(text)")
  }

  static func outOfMemory(inCallback address: UInt) -> ForwardingEvent {
    ForwardingEvent(
      .outOfMemory,
      "the callback 0x\(String(address, radix: 16)) had no memory for its arguments; "
        + "the call answered zero")
  }
}

extension ForwardingEvent {
  /// Where events go.
  public enum Destination: Sendable {
    /// One line for each on stderr. In ten seconds the same line is written once, and at most ten lines are; the
    /// tenth says so, and the next one how many were left out.
    case standardError
    /// Nowhere.
    case nowhere
    /// To a function, all of them.
    case handler(@Sendable (ForwardingEvent) -> Void)
  }

  /// Where events of this process go; ``Destination/standardError`` at first.
  public static var destination: Destination {
    get { sink.read { $0 } }
    set { sink.withLock { $0 = newValue } }
  }

  private static let sink = Guarded(Destination.standardError)
  private static let isTelling = ThreadLocal<Telling>()
  private static let lines = Guarded(LineLimit())

  private final class Telling: Sendable {}

  /// Reports an event, which came up so many times. Nobody calls this with a lock held.
  package static func report(_ event: ForwardingEvent, times: Int = 1) {
    switch destination {
    case .nowhere: break
    case .standardError: tellStandardError(event, times)
    case .handler(let tell):
      // A handler that causes events itself would never end.
      guard isTelling.value == nil else { return tellStandardError(event, times) }
      isTelling.with(Telling()) { for _ in 0..<times { tell(event) } }
    }
  }

  /// Reports that there is no memory, and takes none where that goes to stderr.
  @unsafe
  static func reportOutOfMemory(inCallback function: UnsafeRawPointer) {
    if case .standardError = destination {
      return unsafe fwd_write_event(.callbackWithoutMemory, function)
    }
    report(.outOfMemory(inCallback: UInt(bitPattern: function)))
  }

  private static func tellStandardError(_ event: ForwardingEvent, _ times: Int) {
    let subject = LineLimit.Subject(event)
    let now = ContinuousClock.now
    // Asked first, as a text takes longer to make than all the rest.
    guard lines.withLockInPlace({ $0.asksForText(of: subject, times, at: now) }) else { return }
    let line = "swift-forwarding: \(event)"
    let admitted = lines.withLockInPlace { limit in
      limit.admit(line, times, at: now).map { (leftOut: $0, isLast: limit.isReached) }
    }
    guard let admitted else { return }
    var text = line
    if admitted.leftOut > 0 { text += " (and \(admitted.leftOut) more lines before)" }
    if admitted.isLast { text += " (no more lines for ten seconds)" }
    var bytes = Array("\(text)\n".utf8)
    // One write, so that lines of several threads do not mix. A failure is ignored.
    _ = unsafe bytes.withUnsafeMutableBytes { unsafe write(2, $0.baseAddress, $0.count) }
  }
}
