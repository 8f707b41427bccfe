// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Invocations
import TypeEncodings

/// Records, describes, copies and makes a call with legal values: through both engines, into a
/// callback that records the arguments it receives.
enum CallFuzz {
  static func run(_ given: FuzzInput) throws {
    var input = given
    let flags = input.byte()
    fwd_callback_prefer_libffi(flags & 2 == 0 ? 0 : 1)
    defer { fwd_callback_prefer_libffi(0) }
    let text =
      flags & 1 == 0
      ? RandomEncoding.signature(&input) : String(decoding: input.line(), as: UTF8.self)
    guard let signature = try? MethodSignature(parsing: text) else { return }
    let fixed = flags & 12 == 12 ? input.number(below: signature.numberOfArguments + 1) : nil
    try exercise(signature, fixed: fixed, &input)
  }

  static func exercise(
    _ signature: MethodSignature, fixed: Int?, _ input: inout FuzzInput
  ) throws {
    let plan: CallPlan
    do {
      plan = try CallPlan.shared(for: signature, fixedArgumentCount: fixed)
    } catch {
      try demand(!"\(error)".isEmpty, "an error says nothing")
      return
    }
    guard plan.frameSize <= 1 << 15 else { return }
    _ = plan.resultLocation.text
    let call = Invocation(plan)
    var places: [PlacedValue] = []
    for index in 0..<signature.numberOfArguments {
      _ = try plan.location(ofArgument: index).text
      places.append(try PlacedValue(setting: index, in: call, &input))
    }
    try demand(call.description.utf8.count < 1 << 20, "\(signature): a description is endless")
    for place in places { try place.check(in: call, "as it was set") }
    let copy = call.copy()
    if input.byte() & 1 == 0 { copy.retainArguments() }
    for place in places { try place.check(in: copy, "in a copy") }
    if fixed == nil { try makeCalls(call, signature, places, &input) }
    // The copy does not change, whatever the calls did.
    for place in places { try place.check(in: copy, "in a copy, later") }
  }

  private static func makeCalls(
    _ call: Invocation, _ signature: MethodSignature, _ places: [PlacedValue],
    _ input: inout FuzzInput
  ) throws {
    let size = try signature.resultLength
    let mask = try ValueMask.of(signature.resultType, size: size)
    let wanted = zip(input.bytes(size), mask).map { $0 & $1 }
    let answer = Answer(wanted, places.count)
    // Objects and C strings are refused as results of callbacks, because C would not release them.
    guard let callback = try? Self.callback(signature, answer) else { return }
    for engine in ["direct", "libffi"] {
      do {
        if engine == "direct" {
          try call.invoke(using: callback.address)
        } else {
          guard call.invokeThroughLibffi(using: callback.address) else { continue }
        }
      } catch {
        // A small stack has no room for a large call.
        guard case .notEnoughStack = error else { throw error }
        return
      }
      try demand(answer.failure == nil, "\(signature), \(engine): \(answer.failure ?? "")")
      for place in places {
        try place.check(answer.arrived[place.index], "\(signature), through \(engine)")
      }
      guard size > 0 else { continue }
      let result = zip(try call.resultBytes(), mask).map { $0 & $1 }
      try demand(result == wanted, "\(signature), \(engine): \(wanted) came back as \(result)")
    }
    withExtendedLifetime(callback) {}
  }

  private static func callback(_ signature: MethodSignature, _ answer: Answer) throws -> Callback {
    try Callback(signature, onError: { answer.fail("\($0)") }) { try answer.take($0) }
  }
}

/// The arguments that a callback received, and the result that it returns. Used by one thread.
private final class Answer: @unchecked Sendable {
  private let wanted: [UInt8]
  var arrived: [[UInt8]]
  var failure: String?

  init(_ wanted: [UInt8], _ count: Int) {
    self.wanted = wanted
    arrived = Array(repeating: [], count: count)
  }

  func take(_ call: Invocation) throws {
    arrived = try arrived.indices.map { try call.argumentBytes(at: $0) }
    if !wanted.isEmpty { try call.setResult(bytes: wanted) }
  }

  func fail(_ text: String) { failure = text }
}
