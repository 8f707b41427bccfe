public import ForwardingWire

/// Why a call to another process has no answer.
///
/// ```swift
/// RemoteError.refused(.unknownMessage, "rob:")  // refused: the host has no such message (rob:)
/// ```
@nonexhaustive
public enum RemoteError: Error, Hashable, Sendable {
  /// No answer came in time. Whether the call was performed is open.
  case timedOut
  /// The task that waited was cancelled, and the host was told so. Whether the call was performed is open.
  case cancelled
  /// Nobody is there, so nobody performed the call.
  case unreachable(String)
  /// The connection broke before the answer came. Whether the call was performed is open, as it had left this process; one
  /// that is told while there is no connection is not sent.
  case interrupted
  /// The connection was closed, by this process or for good.
  case closed
  /// The host did not perform the call.
  case refused(RemoteRefusal, String)
  /// The target threw. Its error crosses as a code and a text where it is a ``RemoteFailure``; else both are
  /// empty.
  case failed(code: Int32, text: String)
  /// More calls are on their way than may be.
  case congested(limit: Int)
  /// A message with a result cannot be sent without awaiting it.
  case mustBeAwaited(Selector)
  /// The call, or its answer, is not what the interface has.
  case wire(WireError)
  /// The transport could not carry the message.
  case notCarried(TransportError)

  init(_ error: TransportError) {
    self =
      switch error {
      case .interrupted: .interrupted
      case .closed: .closed
      case .timedOut: .timedOut
      case .nobodyListens: .unreachable("nobody listens")
      case .forked: .unreachable("\(error)")
      case .unreachable(let why): .unreachable(why)
      case .tooLarge, .congested, .denied, .failed, .unsent: .notCarried(error)
      }
  }
}

extension RemoteError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .timedOut: "no answer came in time"
    case .cancelled: "the task that waited was cancelled"
    case .unreachable(let why): "cannot be reached: \(why)"
    case .interrupted: "the connection broke before an answer came"
    case .closed: "the connection is closed"
    case .refused(let refusal, let text):
      "refused: \(refusal)" + (text.isEmpty ? "" : " (\(text))")
    case .failed(let code, let text):
      code == 0 && text.isEmpty
        ? "the target threw an error that stays in its process"
        : "the target threw \(code): \(text)"
    case .congested(let limit): "\(limit) calls are on their way, and no more may be"
    case .mustBeAwaited(let selector):
      "'\(selector)' has a result, which another process has to send: await it"
    case .wire(let error): "\(error)"
    case .notCarried(let error): "\(error)"
    }
  }
}

/// Why a host does not perform a call.
///
/// ```swift
/// RemoteRefusal.busy  // the host has more calls than it takes
/// ```
@nonexhaustive
public enum RemoteRefusal: UInt8, Error, Hashable, Sendable, CaseIterable {
  /// The bytes are no call.
  case malformed = 1
  /// The host speaks another version.
  case version = 2
  /// The interface has no such message, or another name.
  case unknownMessage = 3
  /// The message has other types there; both spellings are in the text.
  case signatureMismatch = 4
  /// The host's hook said no.
  case unauthorized = 5
  /// More calls are being performed than the host takes.
  case busy = 6
  /// The host is going away.
  case draining = 7
  /// The time of the call was over before it had ended, and what performed it was cancelled. Who waits has
  /// ``RemoteError/timedOut``.
  case expired = 8
  /// The call came a second time, and its answer is not there any more.
  case duplicate = 9
  /// The target is gone.
  case targetGone = 10
  /// The result cannot be sent.
  case unsendableResult = 11
  /// The target has no method for the message: it leaves out what is optional, or none of its targets answers.
  case leftOut = 12
  /// Something that this version does not know.
  case other = 255
}

extension RemoteRefusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "what came is no call"
    case .version: "the host speaks another version"
    case .unknownMessage: "the host has no such message"
    case .signatureMismatch: "the message has other types there"
    case .unauthorized: "not authorized"
    case .busy: "the host has more calls than it takes"
    case .draining: "the host is going away"
    case .expired: "the deadline had passed"
    case .duplicate: "the call came a second time"
    case .targetGone: "the target is gone"
    case .unsendableResult: "the result cannot be sent"
    case .leftOut: "the target has no method for the message"
    case .other: "for a reason that this version does not know"
    }
  }
}

/// An error that may cross to another process, as a code and a text. Any other stays where it is thrown.
///
/// ```swift
/// enum Full: RemoteFailure {
///   case disk
///   var remoteCode: Int32 { 28 }
///   var remoteText: String { "no space is left" }
/// }
/// ```
public protocol RemoteFailure: Error {
  /// A number that both sides know.
  var remoteCode: Int32 { get }
  /// A text that outsiders may read.
  var remoteText: String { get }
}
