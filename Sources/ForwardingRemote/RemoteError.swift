// SPDX-License-Identifier: Apache-2.0
public import ForwardingWire
public import Invocations

/// Why a call to another process has no answer.
///
/// ```swift
/// RemoteError.refused(.unknownMessage, "rob:")  // the call was refused: the host has no such message (rob:)
/// ```
@nonexhaustive
public enum RemoteError: Error, Hashable, Sendable {
  /// No answer arrived in time. The call may or may not have been performed.
  case timedOut
  /// The waiting task was cancelled, and the host was notified. The call may or may not have been
  /// performed.
  case cancelled
  /// No host can be reached, so the call was not performed. The text says why.
  case unreachable(String)
  /// The connection broke before the answer arrived. The call may or may not have been performed. A
  /// message that is not awaited also fails in this way while there is
  /// no connection, and is not sent.
  case interrupted
  /// The connection was closed by this process, or cannot be made again.
  case closed
  /// The host refused the call, for a reason and with a text of details.
  case refused(RemoteRefusal, String)
  /// The target threw an error. A ``RemoteFailure`` is sent as its code and text; for other errors
  /// the code is 0 and the text is empty.
  case failed(code: Int32, text: String)
  /// The limit of calls in flight is reached.
  case congested(limit: Int)
  /// A message that returns a result was sent without being awaited.
  case mustBeAwaited(Selector)
  /// The call or its answer cannot be encoded or decoded with the interface.
  case wire(WireError)
  /// A gathering sends one message, and this is the selector of another one.
  case gathersOne(Selector)
  /// The transport did not carry the message.
  case notCarried(TransportError)

  init(_ error: TransportError) {
    self =
      switch error {
      case .interrupted: .interrupted
      case .closed: .closed
      case .timedOut: .timedOut
      case .nobodyListens: .unreachable("no host listens")
      case .unreachable(let why): .unreachable(why)
      case .tooLarge, .congested, .denied, .failed: .notCarried(error)
      }
  }
}

extension RemoteError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .timedOut: "no answer arrived in time; the call may have been performed"
    case .cancelled: "the task that waited was cancelled; the call may have been performed"
    case .unreachable(let why): "the host cannot be reached: \(why)"
    case .interrupted: "the connection broke; the call may have been performed"
    case .closed: "the connection is closed"
    case .refused(let refusal, let text):
      "the call was refused: \(refusal)" + (text.isEmpty ? "" : " (\(text))")
    case .failed(let code, let text):
      code == 0 && text.isEmpty
        ? "the target threw an error, which is not sent because it is no RemoteFailure"
        : "the target threw the error \(code): \(text)"
    case .congested(let limit):
      "\(limit) calls are in flight, which is the limit: wait until one of them ends"
    case .mustBeAwaited(let selector):
      "'\(selector)' returns a result from another process: call it with 'await'"
    case .wire(let error): "\(error)"
    case .gathersOne(let selector):
      "a gathering sends one message, but '\(selector)' is a second one"
    case .notCarried(let error): "\(error)"
    }
  }
}

/// Why a host refuses a call.
///
/// ```swift
/// RemoteRefusal.busy  // the host has as many calls as its limits allow
/// ```
@nonexhaustive
public enum RemoteRefusal: UInt8, Error, Hashable, Sendable, CaseIterable {
  /// The bytes are not a valid call.
  case malformed = 1
  /// The host uses another version of the protocol.
  case version = 2
  /// The interface has no such message, or has another name.
  case unknownMessage = 3
  /// The host declares the message with other types. The text contains both signatures.
  case signatureMismatch = 4
  /// The host's `authorize` closure refused the call.
  case unauthorized = 5
  /// The host holds as many calls, or as many bytes of calls, as its limits allow.
  case busy = 6
  /// The host is shutting down.
  case draining = 7
  /// The time of the call was over before the call ended, so the host cancelled it. The caller gets
  /// ``RemoteError/timedOut``.
  case expired = 8
  /// The result cannot be encoded or sent.
  case unsendableResult = 11
  /// The target has no method for the message: it leaves out an optional requirement, or none of
  /// its targets answers.
  case leftOut = 12
  /// A reason that this version does not know.
  case other = 255
}

extension RemoteRefusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "the bytes are not a call"
    case .version: "the host uses another version of the protocol"
    case .unknownMessage: "the host has no such message"
    case .signatureMismatch: "the host declares the message with other types"
    case .unauthorized: "not authorized"
    case .busy: "the host has as many calls as its limits allow"
    case .draining: "the host is shutting down"
    case .expired: "its deadline has passed"
    case .unsendableResult: "the result cannot be sent"
    case .leftOut: "the target has no method for the message"
    case .other: "the host gave a reason that this version does not know"
    }
  }
}

/// An error that is sent to other processes, as a code and a text. Other errors stay in the process
/// that throws them.
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
  /// A text that other processes may read.
  var remoteText: String { get }
}
