// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingActors
import ForwardingRemote
import ForwardingWire
import Invocations

/// The actor that is called. It is not private, because its name is sent to other nodes.
distributed actor FuzzShop {
  typealias ActorSystem = MessagingActorSystem

  private var sold = 0

  distributed func sell(_ count: Int) -> Int {
    sold &+= count
    return sold
  }
  distributed func label(_ name: String, tags: [String?]) -> [String?] { [name] + tags }
  distributed func visit(_ other: FuzzShop?) -> Bool { other == nil }

  distributed actor Shelf {
    typealias ActorSystem = MessagingActorSystem
    distributed func sell(_ count: Int) -> Int { count }
  }
}

/// For any call of an actor, a node sends one answer, performs only methods of the actor's own
/// type, and keeps working.
enum ActorFuzz {
  static func run(_ bytes: [UInt8]) throws {
    try name(bytes)
    try call(bytes)
    try node(bytes)
  }

  /// Takes the bytes as the end of a method's name: it is never a method of both types.
  private static func name(_ bytes: [UInt8]) throws {
    let (shop, shelf) = (_mangledTypeName(FuzzShop.self), _mangledTypeName(FuzzShop.Shelf.self))
    guard let shop, let shelf else { throw FuzzFinding(description: "types have no names") }
    let text = String(decoding: bytes, as: UTF8.self)
    for name in [text, "$s" + shop + text + "FTE", "$s" + shelf + text + "FTE"] {
      let isOfBoth =
        MethodName.isMethod(name, of: shop) && MethodName.isMethod(name, of: shelf)
      try demand(!isOfBoth, "\(name) is a method of two types")
      try demand(!MethodName.isMethod(name, of: ""), "\(name) is a method of no type")
    }
  }

  /// Takes the bytes as a call: a decoded call is encoded to the same bytes.
  private static func call(_ bytes: [UInt8]) throws {
    do throws(WireError) {
      let call = try ActorCall(bytes, WireLimits())
      try demandWritten(call, bytes)
    } catch {
      guard error.offset <= bytes.count else {
        throw FuzzFinding(description: "\(error) blames a byte behind the end")
      }
      guard error.outwards.utf8.count < 4000 else {
        throw FuzzFinding(description: "an error of long bytes is long")
      }
    }
  }

  private static func demandWritten(_ call: ActorCall, _ bytes: [UInt8]) throws(WireError) {
    guard try call.bytes(WireLimits()) == bytes else {
      throw WireError(.noResult, at: .max)
    }
  }

  // MARK: A node

  private static let subject: RemoteSubject = "forwarding-actors.shop"

  /// The compiler's names of the shop's methods, as they are sent in calls.
  private static let methods: Result<[String], any Error> = Result {
    let transport = InProcessTransport()
    let heard = Guarded<[String]>([])
    let listener = try transport.subscribe(to: subject, group: nil) { message in
      let call = try? ActorCall(Array(message.payload.dropFirst(FuzzEnvelope.head)), WireLimits())
      if let call { heard.withLock { $0.append(call.method) } }
      message.answer?(
        FuzzEnvelope.answer(
          0x83, host: FuzzEnvelope.number(9), to: message.payload, []))
    }
    defer { listener.end() }
    let here = try MessagingActorSystem(transport, as: "here")
    let shop = try FuzzShop.resolve(id: .init("shop", at: "shop"), using: here)
    try awaited("what names are found by") {
      _ = try? await shop.sell(1)
      _ = try? await shop.label("", tags: [])
      _ = try? await shop.visit(nil)
    }
    here.close()
    return heard.read { $0 }
  }

  /// Sends the bytes as a request: alone, after a header, and as an argument or a name in a call.
  private static func node(_ bytes: [UInt8]) throws {
    let methods = try methods.get()
    try demand(methods.count == 3, "methods have no names: \(methods)")
    let transport = InProcessTransport()
    let node = try MessagingActorSystem(transport, as: "shop")
    let shop = try node.named("shop") { FuzzShop(actorSystem: $0) }
    defer { withExtendedLifetime(shop) { node.close() } }
    let method = methods[Int(bytes.first ?? 0) % 3]
    func call(_ method: String, _ arguments: [[UInt8]]) throws -> [UInt8] {
      try ActorCall(actor: "shop", method: method, arguments: arguments).bytes(WireLimits())
    }
    var input = FuzzInput(bytes)
    let lines = [input.line(), input.line()]
    let name = String(decoding: bytes.prefix(200), as: UTF8.self)
    var calls = [
      bytes, try call(method, [bytes]), try call(method, lines), try call(name, [[]]),
      try call(method.prefix(method.count / 2) + name, [[]]),
    ]
    calls = calls.enumerated().map { FuzzEnvelope.request(1, UInt8($0)) + $1 }
    // Messages without an answer and cancels have no answer to wait for.
    if [2, 4].contains(FuzzEnvelope.kind(of: bytes) ?? 0) {
      try transport.publish(bytes, to: subject)
    } else {
      calls.append(bytes)
    }
    for payload in calls { _ = try FuzzEnvelope.ask(payload, subject, transport) }
    try goesOn(methods[0], transport)
    try refuses(calls, node, transport)
  }

  /// Checks that the node keeps working.
  private static func goesOn(_ method: String, _ transport: InProcessTransport) throws {
    let call = ActorCall(actor: "shop", method: method, arguments: [Array("5".utf8)])
    let answer = try FuzzEnvelope.ask(
      FuzzEnvelope.request(1, 200) + call.bytes(WireLimits()), subject, transport)
    try demand(
      answer[1] == FuzzEnvelope.answered, "a node does not answer any more: \(answer)")
  }

  /// Checks that an unauthorized caller learns only that it may not call, or that its bytes are no
  /// call.
  private static func refuses(
    _ calls: [[UInt8]], _ node: MessagingActorSystem, _ transport: InProcessTransport
  ) throws {
    node.authorize = { caller in
      // Describing a method reads its name.
      _ = caller.target.description
      return false
    }
    for payload in calls {
      let answer = try FuzzEnvelope.ask(payload, subject, transport)
      guard let (kind, refusal) = FuzzEnvelope.read(answer) else { continue }
      try demand(
        kind == 0x84 || kind == 0x83 && [.malformed, .version, .unauthorized].contains(refusal),
        "who may not call hears \(answer)")
    }
  }
}
