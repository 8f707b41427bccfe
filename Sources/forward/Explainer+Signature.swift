// SPDX-License-Identifier: Apache-2.0
import InvocationText
import Invocations
import TypeEncodings

/// A signature, and the way its values are passed on its machine.
struct ExplainedCall {
  let signature: MethodSignature
  private(set) var places: CallPlaces?
  /// The call plan, if the signature is for this machine.
  private(set) var plan: CallPlan?
  /// The reason that the signature cannot be called.
  private(set) var cause: (any Error)?

  init(_ signature: MethodSignature) {
    self.signature = signature
    do throws(InvocationError) {
      places = try CallPlaces(signature)
      if signature.machine == .own { plan = try CallPlan.shared(for: signature) }
    } catch {
      if case .encoding(let inner) = error { cause = inner } else { cause = error }
    }
  }

  /// The place of one value in a call.
  struct Place {
    /// The argument's number, and its role if it has one.
    var role: String
    var type: TypeEncoding
    /// The number of the argument; nil for the result.
    var index: Int?
    /// The offset that the encoding has after the type.
    var advice: Int?
    /// The offset in the frame of this machine.
    var frameOffset: Int?
    var place: CallPlan.Location?

    var offset: Int? { place?.text == "nowhere" ? nil : frameOffset }
  }

  var result: Place {
    Place(
      role: "result", type: signature.resultType, advice: signature.advice[0],
      frameOffset: plan?.frameOffset(ofPlace: 0), place: places?.result)
  }

  var arguments: [Place] {
    signature.argumentTypes.enumerated().map { index, type in
      Place(
        role: role(of: index), type: type, index: index,
        advice: signature.advice[index + 1],
        frameOffset: plan?.frameOffset(ofPlace: index + 1),
        place: places?.arguments[index])
    }
  }

  private func role(of index: Int) -> String {
    switch (signature.shape, index) {
    case (.method, 0): "\(index) receiver"
    case (.method, 1): "\(index) selector"
    case (.block, 0): "\(index) block"
    default: "\(index)"
    }
  }

  static let engine = CallPlan.hasDirectEngine ? "direct" : "libffi"

  /// The machine, the engine and the size of a call, in words.
  var summary: String {
    guard let places, cause == nil else { return "cannot be called" }
    return "on \(signature.machine.rawValue), \(places.stackSize) bytes of stack"
      + (plan.map { ", \(Self.engine) engine, frame of \($0.frameSize) bytes" } ?? "")
  }
}

extension Explainer {
  func signatureObject(_ call: ExplainedCall, _ text: String) -> JSONValue {
    let (signature, plan) = (call.signature, call.plan)
    var object: [(String, JSONValue)] = [
      ("encoding", .string(text)), ("shape", .string("\(signature.shape)")),
      ("target", .string(signature.machine.rawValue)),
      ("engine", plan.map { _ in .string(ExplainedCall.engine) } ?? .null),
      ("frame", Self.number(plan?.frameSize)),
      ("stack", Self.number(call.places?.stackSize)),
      ("oneway", .bool(signature.isOneway)),
      ("result", placeObject(call.result)),
      ("arguments", .array(call.arguments.map(placeObject))),
    ]
    if let cause = call.cause { object.append(("error", details(cause))) }
    return .object(object)
  }

  private func placeObject(_ place: ExplainedCall.Place) -> JSONValue {
    let layout = try? place.type.layout
    let found = place.place
    var object: [(String, JSONValue)] = place.index.map { [("index", .integer($0))] } ?? []
    object += [
      ("encoding", .string("\(place.type)")),
      ("size", Self.number(layout?.size)), ("alignment", Self.number(layout?.alignment)),
      ("offset", Self.number(place.offset)),
      ("location", found.map { .string($0.text) } ?? .null),
      ("written", Self.number(place.advice)),
      ("registers", found.map { .array($0.registers.map { .string($0) }) } ?? .null),
      ("stack", Self.number(found?.stackOffset)),
      ("copied", found.map { .bool($0.isCopied) } ?? .null),
    ]
    return .object(object)
  }

  func signatureTable(_ call: ExplainedCall) -> String {
    let count = call.signature.numberOfArguments
    let head =
      Terminal.styled("\(call.signature)", .bold)
      + "  \(call.signature.shape), \(count) argument\(count == 1 ? "" : "s"), \(call.summary)"
    var rows = [["", "type", "size", "align", "offset", "travels in"]]
    for place in [call.result] + call.arguments {
      let layout = try? place.type.layout
      let size = layout.map { "\($0.size)" } ?? "?"
      let alignment = layout.map { "\($0.alignment)" } ?? "?"
      let offset = place.offset.map { "\($0)" } ?? ""
      rows.append(
        [place.role, "\(place.type)", size, alignment, offset, place.place?.text ?? "?"])
    }
    return head + "\n" + Terminal.table(rows, right: [2, 3, 4], indent: "  ")
  }
}
