// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations

// The body of a host's answer to the request for all hosts. Integers are little-endian.
//
//   0  2  bytes of the host's name
//   2  2  number of interfaces
//   4     the name, then for each interface two bytes of its length, and its name

/// A host that announced itself, and the interfaces that it exposes.
///
/// ```swift
/// let transport = InProcessTransport()
/// var bank = Interface("bank")
/// try bank.allow(AsyncMessage<Int32, Int32>("deposit:"))
/// let host = RemoteHost(transport, as: "bank-1")
/// try host.expose(account, bank)
/// try host.announce()
///
/// let there = try await RemotePresence.all(on: transport, expecting: 1)
/// there[0].name        // bank-1
/// there[0].interfaces  // ["bank"]
/// ```
///
/// These are claims of the other process, which are not trusted: an ``Interface`` of this process
/// defines which messages may be sent, and with which types.
public struct RemotePresence: Hashable, Sendable {
  /// The random number that identifies the host.
  public let host: UInt64
  /// The name that others send to.
  public let name: String
  /// The names of the interfaces that it exposes.
  public let interfaces: [String]

  /// The subject on which announced hosts listen.
  static let subject: RemoteSubject = "forwarding-hosts"
  /// The most interfaces of one host that are sent, and accepted.
  static let interfaces = 1024

  /// Finds the hosts that have announced themselves.
  ///
  /// - Parameters:
  ///   - transport: The transport on which to ask.
  ///   - count: The number of answers after which this returns. With fewer it waits for the whole
  ///     time.
  ///   - limit: How long to wait.
  /// - Returns: The hosts that answered; none if no host can be reached.
  /// - Throws: ``RemoteError`` if the request cannot be sent for another reason, or the task is
  ///   cancelled.
  public static func all(
    on transport: any Transport, expecting count: Int = .max, within limit: Duration = .seconds(1)
  ) async throws(RemoteError) -> [RemotePresence] {
    let found = Guarded<[RemotePresence]>([])
    let link = OutboundCalls(transport, subject, deadline: limit)
    do throws(RemoteError) {
      try await link.askAll(.ping, within: limit) { answer in
        guard answer.kind == .pong, let presence = RemotePresence(answer) else { return false }
        return found.withLockInPlace { found in
          if found.count < count { found.append(presence) }
          return found.count >= count
        }
      }
    } catch {
      // No host is there, which is a valid result.
      guard case .unreachable = error else { throw error }
    }
    return found.read { $0 }
  }

  /// Decodes the answer of a host; nil if it is malformed.
  package init?(_ answer: RemoteAnswer) {
    let read: Result<(String, [String])?, WireError> = WireReader.over(answer.body) {
      reader in
      do throws(WireError) {
        let counts = try (Int(reader.uint16()), Int(reader.uint16()))
        // A name of two bytes in the message takes sixteen in an array.
        guard counts.1 <= Self.interfaces else { return .success(nil) }
        let name = try reader.text(counts.0)
        var interfaces: [String] = []
        for _ in 0..<counts.1 { interfaces.append(try reader.text(Int(reader.uint16()))) }
        try reader.finish()
        return .success((name, interfaces))
      } catch {
        return .failure(error)
      }
    }
    guard case .success(let (name, interfaces)?) = read else { return nil }
    (host, self.name, self.interfaces) = (answer.host, name, interfaces)
  }

  /// Encodes the name and the interfaces of a host, with as many interfaces as fit into the limit.
  ///
  /// - Throws: `WireError` if the name alone is longer than the limit.
  package static func bytes(
    of name: String, _ interfaces: [String], limit: Int
  ) throws(WireError) -> [UInt8] {
    var writer = WireWriter(limit: limit)
    var room = limit - 4 - min(name.utf8.count, Int(UInt16.max))
    let listed = interfaces.prefix(Self.interfaces).prefix { interface in
      room -= 2 + min(interface.utf8.count, Int(UInt16.max))
      return room >= 0
    }
    try writer.append(UInt16(clamping: name.utf8.count))
    try writer.append(UInt16(clamping: listed.count))
    try writer.append(Array(name.utf8.prefix(Int(UInt16.max))))
    for interface in listed {
      try writer.append(UInt16(clamping: interface.utf8.count))
      try writer.append(Array(interface.utf8.prefix(Int(UInt16.max))))
    }
    return writer.bytes
  }
}
