public import Forwarding

/// An object of a protocol for tests: it keeps every call, answers as it was told, and says where a test was
/// promised something else.
///
/// ```
/// let spy = Spy<ChatDelegateProxy>()
/// spy.answer(\.chatShouldSend) { chat, text in text.count < 10 }
/// session.delegate = spy.face
/// session.send("hello")
/// #expect(spy.received(\.chatDidReceive).map(\.1.text) == ["hello"])
/// ```
///
/// A message is named by its key path among `Face.__Messages`, which has the requirement's own types: closures get
/// the arguments as the protocol has them, and what came is a tuple of them. ``messages`` has all that can be
/// done with one; here is what most tests need.
///
/// ```swift
/// func refusing<Face: ForwardingFace>(
///   _ name: KeyPath<Face.__Messages, Requirement<Bool, String>>, _ reporter: Printing
/// ) -> Spy<Face> {
///   let spy = Spy<Face>(reportingTo: reporter)
///   spy.answer(name) { text in text.isEmpty }
///   return spy
/// }
/// ```
public final class Spy<Face: ForwardingFace> {
  /// What keeps the calls; the target for those who know selectors alone.
  public let proxy: SpyProxy
  /// The object of the protocol. It keeps the proxy, so it may outlive this.
  public let face: Face

  /// Makes a spy whose failures go to a reporter.
  public init(
    _ manner: SpyManner = .nice, reportingTo reporter: some SpyReporter,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) {
    proxy = SpyProxy(
      manner, reportingTo: reporter, fileID: fileID, filePath: filePath, line: line,
      column: column)
    face = Face(forwardingTo: proxy)
  }

  /// Makes a spy in front of an object, which it keeps, and which gets what the spy has no answer for.
  public init(
    wrapping real: Face.__Target, _ manner: SpyManner = .nice,
    reportingTo reporter: some SpyReporter,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) {
    proxy = SpyProxy(
      manner, wrapping: Face.__prepare(real), reportingTo: reporter, fileID: fileID,
      filePath: filePath, line: line, column: column)
    face = Face(forwardingTo: proxy)
  }

  /// The messages of the protocol, by their names.
  public var messages: SpiedMessages<Face> { SpiedMessages(proxy: proxy) }

  /// All calls in their order, as text.
  public var transcript: [String] { proxy.transcript }

  /// Forgets all calls; what the spy was told stays.
  public func forgetCalls() { proxy.forgetCalls() }

  /// Forgets all that the spy was told, as answers; calls stay.
  public func forgetAnswers() { proxy.forgetAnswers() }
}

extension Spy: Sendable where Face: Sendable {}

/// The messages of a protocol to a spy.
///
/// ```swift
/// func count<Face: ForwardingFace>(
///   _ name: KeyPath<Face.__Messages, Requirement<Void, String>>, of spy: Spy<Face>
/// ) -> Int {
///   spy.messages[dynamicMember: name].where { $0.isEmpty }.calls
/// }
/// ```
@dynamicMemberLookup
public struct SpiedMessages<Face: ForwardingFace> {
  let proxy: SpyProxy

  /// A message by its name.
  public subscript<Result, each Argument>(
    dynamicMember name: KeyPath<Face.__Messages, Requirement<Result, repeat each Argument>>
  ) -> SpiedMessage<Result, repeat each Argument> {
    let requirement = Face.__Messages()[keyPath: name]
    return SpiedMessage(proxy, requirement.selector, requirement.prepared)
  }
}
