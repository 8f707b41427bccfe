import ForwardingWire
import Invocations

// What a host says of itself to whoever asks all hosts. Numbers begin with their lowest byte.
//
//   0  2  bytes of the host's name
//   2  2  number of interfaces
//   4     the name, then of each interface two bytes of its length, and its name

/// A host that said what it exposes.
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
/// It is what the other process says, and nothing to be believed: which messages may be sent, and with which types, is
/// said by an ``Interface`` of this process.
public struct RemotePresence: Hashable, Sendable {
  /// The number that the host has drawn.
  public let host: UInt64
  /// The name that others send to.
  public let name: String
  /// The names of what it exposes.
  public let interfaces: [String]

  /// Where those who announce themselves listen.
  static let subject: RemoteSubject = "forwarding-hosts"
  /// The most interfaces of one host that are told, and taken.
  static let interfaces = 1024

  /// Asks who is there, of those that have announced themselves.
  ///
  /// - Parameters:
  ///   - count: after how many answers to stop; all of the time is waited if there are less.
  ///   - limit: how long to wait.
  public static func all(
    on transport: any Transport, expecting count: Int = .max, within limit: Duration = .seconds(1)
  ) async throws(RemoteError) -> [RemotePresence] {
    let found = Guarded<[RemotePresence]>([])
    let link = RemoteLink(transport, subject, deadline: limit)
    do throws(RemoteError) {
      try await link.askAll(.ping, [], within: limit) { answer in
        guard answer.kind == .pong, let presence = RemotePresence(answer) else { return false }
        return found.withLockInPlace { found in
          if found.count < count { found.append(presence) }
          return found.count >= count
        }
      }
    } catch {
      // Nobody is there: that is an answer, too.
      guard case .unreachable = error else { throw error }
    }
    return found.read { $0 }
  }

  /// Reads what a host says; nil for what no host says.
  package init?(_ answer: RemoteAnswer) {
    let read: Result<(String, [String])?, WireError> = WireReader.over(Array(answer.body)) {
      reader in
      do throws(WireError) {
        let counts = try (Int(reader.uint16()), Int(reader.uint16()))
        // What takes two bytes there takes sixteen here.
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

  /// What a host says of itself, in no more bytes than the transport carries: as many interfaces as there is room for.
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
