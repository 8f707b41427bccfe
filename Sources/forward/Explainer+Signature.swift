// SPDX-License-Identifier: Apache-2.0
import Forwarding
import InvocationText

/// A signature, and the way its values are passed.
struct ExplainedCall {
  let signature: MethodSignature
  /// The machine of `--target`, and the places of the values there.
  let target: Machine?
  private(set) var places: CallPlaces?
  /// The call plan, if the signature is for this machine.
  private(set) var plan: CallPlan?
  /// The reason that the signature cannot be called.
  private(set) var cause: (any Error)?

  init(_ signature: MethodSignature, for target: Machine?) {
    self.signature = signature
    self.target = target
    do throws(InvocationError) {
      if target != nil { places = try CallPlaces(signature) }
      if target ?? .own == .own { plan = try CallPlan(signature) }
    } catch {
      if case .encoding(let inner) = error { cause = inner } else { cause = error }
    }
  }

  /// The place of one value in a call.
  struct Place {
    var type: TypeEncoding
    /// The number of the argument; nil for the result.
    var index: Int?
    /// The offset that the encoding has after the type.
    var advice: Int?
    var location: CallPlan.Location?
    var place: CallPlaces.Place?

    var text: String? { location?.text ?? place?.text }
  }

  var result: Place {
    Place(
      type: signature.resultType, index: nil, advice: signature.advisoryFrameLength,
      location: plan?.resultLocation, place: places?.result)
  }

  var arguments: [Place] {
    signature.argumentTypes.enumerated().map { index, type in
      Place(
        type: type, index: index, advice: (try? signature.advisoryOffset(at: index)) ?? nil,
        location: try? plan?.location(ofArgument: index), place: places?.arguments[index])
    }
  }

  /// The role of an argument: receiver, selector, block or plain argument.
  func role(of index: Int) -> String {
    switch (signature.shape, index) {
    case (.method, 0): "\(index) receiver"
    case (.method, 1): "\(index) selector"
    case (.block, 0): "\(index) block"
    default: "\(index)"
    }
  }

  /// The engine and the size of a call, in words.
  var summary: String {
    let stack = places.map { "on \(target?.rawValue ?? ""), \($0.stackSize) bytes of stack" }
    let engine = plan.map { "\($0.performer) engine, frame of \($0.frameLength) bytes" }
    if cause != nil { return "cannot be called" }
    return [stack, engine].compactMap(\.self).joined(separator: ", ")
  }
}

extension Explainer {
  func signatureObject(_ call: ExplainedCall, _ text: String) -> JSONValue {
    let (signature, plan) = (call.signature, call.plan)
    var object: [(String, JSONValue)] = [
      ("encoding", .string(text)), ("shape", .string("\(signature.shape)")),
      ("engine", plan.map { .string($0.performer.rawValue) } ?? .null),
      ("frame", plan.map { .integer($0.frameLength) } ?? .null),
      ("frameLength", (try? signature.frameLength).map { .integer($0) } ?? .null),
      ("oneway", .bool(signature.isOneway)),
    ]
    if let target = call.target {
      object += [
        ("target", .string(target.rawValue)),
        ("stack", call.places.map { .integer($0.stackSize) } ?? .null),
      ]
    }
    object += [
      ("result", placeObject(call.result)),
      ("arguments", .array(call.arguments.map(placeObject))),
    ]
    if let cause = call.cause { object.append(("error", details(cause))) }
    return .object(object)
  }

  private func placeObject(_ place: ExplainedCall.Place) -> JSONValue {
    let layout = try? place.type.layout
    var object: [(String, JSONValue)] = place.index.map { [("index", .integer($0))] } ?? []
    object += [
      ("encoding", .string("\(place.type)")),
      ("size", layout.map { .integer($0.size) } ?? .null),
      ("alignment", layout.map { .integer($0.alignment) } ?? .null),
      ("offset", place.location.map { .integer($0.frameOffset) } ?? .null),
      ("location", place.text.map { .string($0) } ?? .null),
      ("written", place.advice.map { .integer($0) } ?? .null),
    ]
    if target != nil {
      let found = place.place
      object += [
        ("registers", found.map { .array($0.registers.map { .string($0) }) } ?? .null),
        ("stack", found?.stackOffset.map { .integer($0) } ?? .null),
        ("copied", found.map { .bool($0.isCopied) } ?? .null),
        ("passing", passing(place.type)),
      ]
    }
    return .object(object)
  }

  func signatureTable(_ call: ExplainedCall) -> String {
    let count = call.signature.numberOfArguments
    let head =
      Terminal.styled("\(call.signature)", .bold)
      + "  \(call.signature.shape), \(count) argument\(count == 1 ? "" : "s"), \(call.summary)"
    // Offsets in a frame are known only for this machine.
    let hasOffsets = target == nil || call.plan != nil
    var rows = [["", "type", "size", "align", "offset", "travels in", "as"]]
    rows.append(row("result", call.result))
    for (index, place) in call.arguments.enumerated() {
      rows.append(row(call.role(of: index), place))
    }
    if target == nil { for row in rows.indices { rows[row].removeLast() } }
    if !hasOffsets { for row in rows.indices { rows[row].remove(at: 4) } }
    let right: Set = hasOffsets ? [2, 3, 4] : [2, 3]
    return head + "\n" + Terminal.table(rows, right: right, indent: "  ")
  }

  private func row(_ role: String, _ place: ExplainedCall.Place) -> [String] {
    let layout = try? place.type.layout
    let isSomewhere = place.text.map { $0 != "nowhere" } ?? false
    return [
      role, "\(place.type)", layout.map { "\($0.size)" } ?? "?",
      layout.map { "\($0.alignment)" } ?? "?",
      isSomewhere ? "\(place.location?.frameOffset ?? 0)" : "", place.text ?? "?",
      target.map { place.type.passingText(on: $0) } ?? "",
    ]
  }
}
