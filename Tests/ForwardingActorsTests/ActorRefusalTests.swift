// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingActors
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteTestSupport
import Testing

@Suite("Refused calls of distributed actors", .timeLimit(.minutes(10)))
struct ActorRefusalTests {
  /// A node with a clerk, and the name of one of its methods.
  private func clerk(_ way: Way = .inProcess) async throws -> (Nodes, Clerk, String) {
    let nodes = try Nodes(way)
    let (clerk, _) = try nodes.clerk()
    let add = try await nodes.method { _ = try await Clerk.resolve(id: $0, using: $1).add(1) }
    return (nodes, clerk, add)
  }

  @Test("a call encoded by hand is performed if its actor has the method")
  func written() async throws {
    let (nodes, clerk, add) = try await clerk()
    defer { nodes.close() }
    #expect(add.hasPrefix("$s") && add.hasSuffix("FTE"))
    let answer = try await nodes.answer(to: RawCall(method: add, arguments: ["5"]))
    #expect(answer.kind == RawAnswer.answered && answer.body == "5")
    withExtendedLifetime(clerk) {}
  }

  @Test("a method of another type is not performed with the actor, wherever that type is declared")
  func otherTypes() async throws {
    let (nodes, clerk, add) = try await clerk()
    defer { nodes.close() }
    let others = [
      try await nodes.method { _ = try await Clerks.resolve(id: $0, using: $1).add(1) },
      try await nodes.method { _ = try await Clock.resolve(id: $0, using: $1).add(1) },
      try await nodes.method { _ = try await Clerk.Assistant.resolve(id: $0, using: $1).add(1) },
      try await nodes.method { try await Clerk.callIntern($0, $1) },
      try await nodes.method { try await Clerk.callTemp($0, $1) },
      try await nodes.method { try await Clerk.callInStructure($0, $1) },
      try await nodes.method { try await Clerk.callInEnumeration($0, $1) },
      try await nodes.method { try await Clerk.callInClosure($0, $1) },
      try await nodes.method { try await Clerk.callInActor($0, $1) },
      try await nodes.method { try await Clerk.callInExtension($0, $1) },
    ]
    #expect(Set(others + [add]).count == 11)
    for method in others {
      #expect(method.hasPrefix("$s") && method.hasSuffix("FTE"))
      let answer = try await nodes.answer(to: RawCall(method: method, arguments: ["5"]))
      #expect(answer.refusal == .unknownMessage, "\(method)")
    }
    // An actor of that type performs the method.
    let assistant = try nodes.there.named("assistant") { Clerk.Assistant(actorSystem: $0) }
    let own = RawCall(actor: "assistant", method: others[2], arguments: ["5"])
    #expect(try await nodes.answer(to: own).body == "-5")
    withExtendedLifetime((clerk, assistant)) {}
  }

  @Test("a stub allows calls of its protocol's methods, and not of the stub's own")
  func stubs() async throws {
    let (nodes, clerk, _) = try await clerk()
    defer { nodes.close() }
    let polite = try nodes.there.named("polite") { Polite(actorSystem: $0) }
    let greeting = try await nodes.method {
      _ = try await $Greeting.resolve(id: $0, using: $1).greeting("Ann")
    }
    let others = [
      try await nodes.method { _ = try await Impostor.resolve(id: $0, using: $1).add(1) },
      try await nodes.method { _ = try await $Greeting.resolve(id: $0, using: $1).added(1) },
    ]
    nodes.there.allow(Impostor.self)
    nodes.there.allow($Greeting.self)
    for (actor, method) in ["clerk", "polite"].flatMap({ actor in others.map { (actor, $0) } }) {
      #expect(method.hasPrefix("$s") && method.hasSuffix("FTE"))
      let call = RawCall(actor: actor, method: method, arguments: ["5"])
      #expect(try await nodes.answer(to: call).refusal == .unknownMessage, "\(method)")
    }
    let call = RawCall(actor: "polite", method: greeting, arguments: ["\"Ann\""])
    #expect(try await nodes.answer(to: call).body == "\"Good evening, Ann.\"")
    withExtendedLifetime((clerk, polite)) {}
  }

  @Test("a function that is not distributed, and any other name, is not performed")
  func otherNames() async throws {
    let (nodes, clerk, add) = try await clerk()
    defer { nodes.close() }
    let type = String(add.dropLast("3addyS2iYaKFTE".count))
    #expect(add == type + "3addyS2iYaKFTE")
    for method in [
      type + "7unheardyS2SF", type + "7unheardyS2SFTE", type + "7unheardyS2SYaKFTE", "", "$s",
      "FTE", type, type + "FTE", type + "3addFTE", add + "\0", add + "FTE", "x" + add,
      type + "3addyS2dYaKFTE", type + "99999999999999999999addyS2iYaKFTE", type + "0FTE",
      type + "00FTE", type + "0aFTE",
    ] {
      let answer = try await nodes.answer(to: RawCall(method: method, arguments: ["5"]))
      #expect(answer.refusal == .unknownMessage, "\(method)")
    }
    withExtendedLifetime(clerk) {}
  }

  @Test("an actor of a private type cannot be called, as its methods cannot be told from others")
  func privateTypes() async throws {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    let actor = try hidden(nodes.there)
    await #expect(throws: RemoteError.refused(.unknownMessage, "")) {
      try await callHidden(at: nodes.there.node, nodes.here)
    }
    withExtendedLifetime(actor) {}
  }

  @Test("a call must have the method's number of arguments, with its types, and not too deep")
  func arguments() async throws {
    let (nodes, clerk, add) = try await clerk()
    defer { nodes.close() }
    func refused(_ arguments: [String]) async throws -> RemoteRefusal? {
      let answer = try await nodes.answer(to: RawCall(method: add, arguments: arguments))
      return answer.refusal
    }
    #expect(try await refused([]) == .signatureMismatch)
    #expect(try await refused(["1", "2"]) == .signatureMismatch)
    #expect(try await refused(Array(repeating: "1", count: 65)) == .malformed)
    for json in ["\"one\"", "1.5", "[1]", "", "1 2", "99999999999999999999", "\u{FEFF}1"] {
      #expect(try await refused([json]) == .malformed, "\(json)")
    }
    let deep = String(repeating: "[", count: 17) + String(repeating: "]", count: 17)
    let answer = try await nodes.answer(to: RawCall(method: add, arguments: [deep]))
    #expect(answer.refusal == .malformed && answer.body.contains("nest more than 16 deep"))
    let long = RawCall(
      actor: String(repeating: "x", count: 256), method: add, arguments: ["1"])
    #expect(try await nodes.answer(to: long).refusal == .malformed)
    #expect(try await nodes.answer(to: RawCall(method: add, arguments: ["7"])).body == "7")
    withExtendedLifetime(clerk) {}
  }

  @Test(
    "a call that is cut anywhere, or has further bytes, is refused and not performed",
    arguments: Way.allCases)
  func truncated(way: Way) async throws {
    let (nodes, clerk, add) = try await clerk(way)
    defer { nodes.close() }
    let call = RawCall(method: add, arguments: ["5"]).bytes
    for count in 0..<call.count {
      let request = RawCall.request(Array(call.prefix(count)), number: UInt16(count))
      let answer = try await nodes.answer(to: request)
      #expect(answer.refusal == .malformed, "\(count) of \(call.count)")
    }
    let longer = try await nodes.answer(to: RawCall.request(call + [0], number: 5000))
    #expect(longer.refusal == .malformed)
    let whole = RawCall.request(call, number: 5001)
    for count in 0..<12 {
      #expect(try await nodes.answer(to: Array(whole.prefix(count))).kind == 0x83)
    }
    #expect(await clerk.whenLocal { $0.total } == 0)
  }

  @Test("a call with any flipped bit is answered, and the node goes on")
  func flipped() async throws {
    let (nodes, clerk, add) = try await clerk()
    defer { nodes.close() }
    let call = RawCall(method: add, arguments: ["5"]).bytes
    for bit in 0..<8 * call.count {
      var other = call
      other[bit / 8] ^= 1 << (bit % 8)
      let answer = try await nodes.answer(to: RawCall.request(other, number: UInt16(bit)))
      // A changed digit is a valid argument. A call with any other flipped bit must not be
      // performed.
      #expect(answer.kind == 0x83 || bit / 8 == call.count - 1, "bit \(bit)")
    }
    #expect(try await nodes.answer(to: RawCall(method: add, arguments: ["1"])).kind == 0x81)
    withExtendedLifetime(clerk) {}
  }

  @Test("generic methods and actors are refused before anything is sent")
  func generic() async throws {
    let (nodes, clerk, _) = try await clerk()
    defer { nodes.close() }
    let there = try Clerk.resolve(id: clerk.id, using: nodes.here)
    await #expect(throws: ActorError.generic(type: "Int")) { try await there.generic(1) }
    await #expect(throws: ActorError.generic(type: "Clerks")) {
      try await there.generic(Clerks(actorSystem: nodes.here))
    }
    let box = try Box<Int>.resolve(id: .init("box", at: nodes.there.node), using: nodes.here)
    await #expect(throws: ActorError.generic(type: "Int")) { try await box.put(1) }
    #expect(nodes.there.incoming.asked == 0)
    // The actor's own type, as in calls through protocols, is refused by the other node.
    await #expect(throws: RemoteError.refused(.unknownMessage, "")) {
      try await there.generic(there)
    }
  }

  @Test("the text of a type's own decoding error stays in its process")
  func secrets() async throws {
    let (nodes, clerk, _) = try await clerk()
    defer { nodes.close() }
    let keep = try await nodes.method {
      try await Clerk.resolve(id: $0, using: $1).keep(Clerk.Word(text: ""))
    }
    let word = try await nodes.method { _ = try await Clerk.resolve(id: $0, using: $1).word("") }
    for (method, text, refusal) in [
      (keep, "decode", RemoteRefusal.malformed), (keep, "corrupt", .malformed),
      (word, "encode", .unsendableResult), (word, "invalid", .unsendableResult),
    ] {
      let call = RawCall(method: method, arguments: ["\"\(text)\""])
      let answer = try await nodes.answer(to: call)
      #expect(answer.refusal == refusal)
      #expect(answer.body == "byte 0: no value of Word", "\(text)")
    }
    withExtendedLifetime(clerk) {}
  }

  @Test("a received ID with a name that is too long is refused")
  func ids() throws {
    func id(_ count: Int) throws -> MessagingActorSystem.ActorID {
      let name = String(repeating: "x", count: count)
      return try JSONDecoder().decode(
        MessagingActorSystem.ActorID.self, from: Data(#"{"name":"\#(name)","node":"n"}"#.utf8))
    }
    #expect(try id(255).name.count == 255)
    #expect(throws: DecodingError.self) { try id(256) }
  }

  @Test("values that are too large, or nest too deeply, are refused by the caller")
  func large() async throws {
    let (nodes, clerk, _) = try await clerk()
    defer { nodes.close() }
    let there = try Clerk.resolve(id: clerk.id, using: nodes.here)
    var form = Clerk.Form(name: "", ages: [])
    for _ in 0..<10 { form = Clerk.Form(name: "", ages: [], next: [form]) }
    let error = await #expect(throws: RemoteError.self) { try await there.older(form, by: 1) }
    guard case .wire(let wire) = error, case .nestedTooDeeply(16) = wire.reason else {
      Issue.record("\(String(describing: error))")
      return
    }
    let text = String(repeating: "x", count: 1 << 20)
    await #expect(throws: RemoteError.self) { try await there.greet(text) }
    #expect(nodes.there.incoming.asked == 0)
    let answer = await #expect(throws: RemoteError.self) { try await there.note(1 << 20) }
    guard case .refused(.unsendableResult, _) = answer else {
      Issue.record("\(String(describing: answer))")
      return
    }
  }
}
