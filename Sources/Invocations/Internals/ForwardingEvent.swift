// SPDX-License-Identifier: Apache-2.0
/// An error, or a probable mistake, that has no sender to be reported to.
///
/// Events are written to stderr by default. Another destination can be set:
///
/// ```swift
/// ForwardingEvent.destination = .handler { event in logger.warning("\(event)") }
/// ```
///
/// A proxy with its own `onDiagnostic` reports only to that. Handlers are called without a lock, on
/// the thread where the event occurs.
public struct ForwardingEvent: Sendable, CustomStringConvertible {
  /// The kinds of events.
  @nonexhaustive
  public enum Kind: String, Hashable, Sendable {
    /// A target or a callback threw, and no sender gets the error: the sender has gone on, gets an
    /// earlier error, or is C code.
    case failed
    /// A message without a result reached targets, or a handler was added to an intercepting proxy,
    /// and no target has a method for its selector.
    case unanswered
    /// A target on a queue was asked for a result, which comes after the sender has its answer.
    case lostAnswer
    /// A target died before its first message.
    case diedUnreached
    /// A class declares a method wrongly.
    case wrongDeclaration
    /// C called a function pointer whose callback has been released.
    case deadCallback
    /// C called a message callback whose object has died.
    case deadReceiver
    /// A callback had no memory for its arguments.
    case outOfMemory
    /// An undo stack skipped a step, or could not record one.
    case undo
  }

  /// The kind of the event.
  public let kind: Kind
  /// The selector of the message, if there is one.
  public let selector: Selector?
  /// The class of the object concerned, if it is known.
  public let type: SwiftType?
  /// The error that no sender gets.
  public let error: (any Error)?
  /// A description in one line. Made on demand, because most lines are not needed when many events
  /// occur.
  public var description: String {
    let text = text()
    // Errors of other modules may have several lines. The encoding of every line break contains one
    // of these bytes.
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
    _ selector: Selector, _ type: Any.Type?, _ error: any Error
  ) -> ForwardingEvent {
    let type = type.map { SwiftType($0) }
    return ForwardingEvent(
      .failed, selector: selector, type: type, error: error,
      "'\(RequirementNames.name(of: selector))'\(type.map { " of \($0)" } ?? "") ended with an error that "
        + "its sender does not get: \(error)")
  }

  /// - Parameter classes: the classes of the targets, whose methods are candidates for a
  ///   suggestion.
  package static func unanswered(
    _ selector: Selector, by type: AnyClass, with classes: [AnyClass]
  ) -> ForwardingEvent {
    let type = SwiftType(type)
    return ForwardingEvent(
      .unanswered, selector: selector, type: type,
      "no target of a \(type) answers '\(RequirementNames.name(of: selector))'"
        + (nearestName(to: selector, in: classes).map { "; did you mean '\($0)'?" } ?? ""))
  }

  /// A handler of an intercepting proxy for a selector that its object has no method for.
  package static func handlerWithoutMethod(
    _ selector: Selector, _ type: AnyClass
  ) -> ForwardingEvent {
    ForwardingEvent(
      .unanswered, selector: selector, type: SwiftType(type),
      "\(SwiftType(type)) has no method for the handler of '\(RequirementNames.name(of: selector))'"
        + (nearestName(to: selector, in: [type]).map { "; did you mean '\($0)'?" } ?? ""))
  }

  private static func nearestName(to selector: Selector, in classes: [AnyClass]) -> String? {
    var names: [String] = []
    var seen: Set<ObjectIdentifier> = []
    for type in classes.prefix(100) where seen.insert(ObjectIdentifier(type)).inserted {
      names += MethodTable.of(type).allSelectorNames
    }
    return NearestName.to(selector.name, among: names)
  }

  /// The last event of this kind that a proxy reports.
  package static func unansweredNoMore(by type: AnyClass, count: Int) -> ForwardingEvent {
    let type = SwiftType(type)
    return ForwardingEvent(
      .unanswered, type: type,
      "no target of a \(type) answers \(count) selectors and more; further ones are not reported")
  }

  package static func lostAnswer(
    _ selector: Selector, _ type: SwiftType,
    _ text: @autoclosure @escaping @Sendable () -> String
  ) -> ForwardingEvent {
    ForwardingEvent(.lostAnswer, selector: selector, type: type, text())
  }

  package static func diedUnreached(_ type: SwiftType) -> ForwardingEvent {
    ForwardingEvent(
      .diedUnreached, type: type,
      "a target of class \(type) died before its first message; keep it, or add it strongly")
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
      "the function pointer 0x\(String(address, radix: 16)) was called, but its callback is gone, so C "
        + "got zero; keep the 'Callback' for as long as C may call it")
  }

  static func deadReceiver(_ selector: Selector, _ type: AnyClass) -> ForwardingEvent {
    let type = SwiftType(type)
    return ForwardingEvent(
      .deadReceiver, selector: selector, type: type,
      "C called the callback of -[\(type) \(selector)], whose object is gone, so C got zero; keep the object"
    )
  }

  package static func undo(_ text: String) -> ForwardingEvent {
    ForwardingEvent(.undo, "undo: \(text)")
  }

  static func outOfMemory(inCallback address: UInt) -> ForwardingEvent {
    ForwardingEvent(
      .outOfMemory,
      "the callback 0x\(String(address, radix: 16)) had no memory for its arguments, so C got "
        + "zero")
  }
}

extension ForwardingEvent {
  /// A destination for events.
  public enum Destination: Sendable {
    /// One line for each event on stderr. Within ten seconds, equal lines are written once, and at
    /// most ten lines in all. The tenth line says so, and the next line says how many were left
    /// out.
    case standardError
    /// Events are discarded.
    case nowhere
    /// A function that gets all events.
    case handler(@Sendable (ForwardingEvent) -> Void)
  }

  /// The destination of this process's events; ``Destination/standardError`` by default.
  public static var destination: Destination {
    get { EventReports.destination.read { $0 } }
    set { EventReports.destination.withLock { $0 = newValue } }
  }
}
