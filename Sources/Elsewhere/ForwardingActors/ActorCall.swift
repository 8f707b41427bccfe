// SPDX-License-Identifier: Apache-2.0
package import ForwardingWire

// An encoded call of a distributed method, which follows the header of a request. Integers are
// little-endian.
//
//   0  2  version, 1
//   2  2  bytes of the actor's name
//   4  2  bytes of the method's mangled name
//   6  2  number of arguments
//   8     both names, then for each argument four bytes of its length, and its JSON

/// An encoded call of a distributed method.
package struct ActorCall: Sendable {
  private static let version: UInt16 = 1

  package let actor: String
  package let method: String
  package let arguments: [[UInt8]]

  package func bytes(_ limits: WireLimits) throws(WireError) -> [UInt8] {
    try Self.check(actor.utf8.count, method.utf8.count, arguments.count)
    var writer = WireWriter(limit: limits.message)
    try writer.append(Self.version)
    try writer.append(UInt16(actor.utf8.count))
    try writer.append(UInt16(method.utf8.count))
    try writer.append(UInt16(arguments.count))
    try writer.append(Array(actor.utf8))
    try writer.append(Array(method.utf8))
    for argument in arguments { try writer.append(counted: argument, limit: limits.text) }
    return writer.bytes
  }

  package init(actor: String, method: String, arguments: [[UInt8]]) {
    self.actor = actor
    self.method = method
    self.arguments = arguments
  }

  /// Decodes a call of another process: checks all lengths, and does not interpret names and
  /// arguments.
  ///
  /// - Throws: `WireError` if the call is malformed or exceeds a limit.
  package init(_ bytes: [UInt8], _ limits: WireLimits) throws(WireError) {
    guard bytes.count <= limits.message else {
      throw WireError(.limit(limits.message, given: bytes.count), at: 0)
    }
    let read: Result<ActorCall, WireError> = WireReader.over(bytes) { reader in
      do throws(WireError) { return .success(try ActorCall(&reader, limits)) } catch {
        return .failure(error)
      }
    }
    self = try read.get()
  }

  private init(_ reader: inout WireReader, _ limits: WireLimits) throws(WireError) {
    let version = try reader.uint16()
    guard version == Self.version else {
      throw WireError(.version(expected: Int(Self.version), given: Int(version)), at: 0)
    }
    let counts = try (Int(reader.uint16()), Int(reader.uint16()), Int(reader.uint16()))
    try Self.check(counts.0, counts.1, counts.2)
    actor = try reader.text(counts.0)
    method = try reader.text(counts.1)
    var arguments: [[UInt8]] = []
    for _ in 0..<counts.2 { arguments.append(try reader.countedBytes(limits)) }
    self.arguments = arguments
    try reader.finish()
  }

  private static func check(_ actor: Int, _ method: Int, _ arguments: Int) throws(WireError) {
    for (count, limit, offset) in [
      (actor, MessagingActorSystem.ActorID.limit, 2), (method, WireLimits.encoding, 4),
      (arguments, WireLimits.arguments, 6),
    ] where count > limit {
      throw WireError(.limit(limit, given: count), at: offset)
    }
  }
}
