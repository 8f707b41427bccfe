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
  /// One line that says it all.
  public let description: String

  package init(
    _ kind: Kind, selector: Selector? = nil, type: SwiftType? = nil, error: (any Error)? = nil,
    _ description: String
  ) {
    self.kind = kind
    self.selector = selector
    self.type = type
    self.error = error
    // Errors of others may have more lines.
    self.description = String(description.map { $0.isNewline ? " " : $0 })
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
    var names: [String] = []
    var seen: Set<ObjectIdentifier> = []
    for type in classes.prefix(100) where seen.insert(ObjectIdentifier(type)).inserted {
      names += MethodTable.of(type).allSelectorNames
    }
    let nearest = NearestName.to(selector.name, among: names)
    return ForwardingEvent(
      .unanswered, selector: selector, type: SwiftType(type),
      "no target of a \(type) answers '\(selector)'"
        + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
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
    ForwardingEvent(
      .deadReceiver, selector: selector, type: SwiftType(type),
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
    /// One line for each on stderr. In ten seconds the same line is written once, and at most ten
    /// lines are; the next one says how many were left out.
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

  /// Reports an event. Nobody calls this with a lock held.
  package static func report(_ event: ForwardingEvent) {
    switch destination {
    case .nowhere: break
    case .standardError: tellStandardError(event)
    case .handler(let tell):
      // A handler that causes events itself would never end.
      guard isTelling.value == nil else { return tellStandardError(event) }
      isTelling.with(Telling()) { tell(event) }
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

  private static func tellStandardError(_ event: ForwardingEvent) {
    let line = "swift-forwarding: \(event)"
    let now = ContinuousClock.now
    guard let leftOut = lines.withLockInPlace({ $0.admit(line, at: now) }) else { return }
    let text = line + (leftOut > 0 ? " (and \(leftOut) more lines before)\n" : "\n")
    var bytes = Array(text.utf8)
    // One write, so that lines of several threads do not mix. A failure is ignored.
    _ = unsafe bytes.withUnsafeMutableBytes { unsafe write(2, $0.baseAddress, $0.count) }
  }
}

/// How many lines go to stderr.
struct LineLimit {
  static let period = Duration.seconds(10)
  static let count = 10

  private var begin: ContinuousClock.Instant?
  private var told: Set<String> = []
  private var leftOut = 0

  /// Returns nil if the line is left out; else how many were left out since the last one that was
  /// not.
  mutating func admit(_ line: String, at now: ContinuousClock.Instant) -> Int? {
    if begin.map({ $0.duration(to: now) >= Self.period }) ?? true {
      begin = now
      told = []
    }
    guard told.count < Self.count, told.insert(line).inserted else {
      leftOut += 1
      return nil
    }
    defer { leftOut = 0 }
    return leftOut
  }
}
