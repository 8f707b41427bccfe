// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations
import TypeEncodings

/// For any bytes, decoding them as a call ends, and a decoded call is encoded to the same bytes.
enum WireFuzz {
  struct Point: Codable, Sendable {
    var x: Double
    var tags: [String?]
  }

  static let interface = made {
    var interface = Interface("fuzz")
    try interface.allow("n:", MethodSignature("v@:i"))
    try interface.allow("t:of:and:", MethodSignature("q@:dB*"))
    try interface.allow("s:", MethodSignature("v@:{s=cq[3{p=sB}]}"))
    try interface.allow(Message<NoResult, String?>("u:"))
    try interface.allow(Message<[UInt8], [UInt8]>("b:"))
    try interface.allow(Message<NoResult, Point?>("v:"))
    return interface
  }

  /// Takes the bytes as a call: alone, and after a valid header.
  static func run(_ bytes: [UInt8]) throws {
    try call(bytes)
    let message = interface.messages[Int(bytes.first ?? 0) % 6]
    let arguments = Array(bytes.dropFirst())
    try call(FuzzEnvelope.head(message) + arguments)
    try values(message.encoding, arguments)
    // An encoding from outside, and its values.
    var input = FuzzInput(bytes)
    try values(String(decoding: input.line(), as: UTF8.self), input.rest)
  }

  private static func call(_ bytes: [UInt8]) throws {
    do {
      let again = try interface.encode(interface.decode(bytes))
      let twice = try interface.encode(interface.decode(again))
      try demand(again == twice, "a call is not written as it was read")
    } catch let error as WireError {
      try demand(error.offset <= bytes.count, "\(error) blames a byte behind the end")
      try demand(error.description.utf8.count < 4_000, "an error of long bytes is long")
    }
  }

  private static func values(_ encoding: String, _ bytes: [UInt8]) throws {
    guard let types = try? WireTypes(encoding) else { return }
    _ = try? types.arguments(bytes)
  }
}
