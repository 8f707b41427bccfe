// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingActors
import ForwardingRemote
import RemoteTestSupport
import Synchronization

/// The actor that tests call.
distributed actor Clerk {
  typealias ActorSystem = MessagingActorSystem

  struct NoRoom: RemoteFailure {
    var remoteCode: Int32 { 28 }
    var remoteText: String { "no room" }
  }
  struct Secret: Error { var password = "1234" }
  struct Form: Codable, Equatable {
    var name: String
    var ages: [Int]
    var next: [Form] = []
  }

  /// A value whose decoding and encoding throw errors of their own.
  struct Word: Codable, Equatable {
    var text: String

    init(text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
      if text == "corrupt" {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "is not 1234"))
      }
      if text == "decode" { throw Secret() }
    }

    func encode(to encoder: any Encoder) throws {
      if text == "invalid" {
        throw EncodingError.invalidValue(
          1234, .init(codingPath: [], debugDescription: "is not 1234"))
      }
      if text == "encode" { throw Secret() }
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  private let notes: Notes
  private var sum = 0

  init(actorSystem: MessagingActorSystem, notes: Notes = Notes()) {
    self.actorSystem = actorSystem
    self.notes = notes
  }

  distributed func greet(_ name: String) -> String { "Hello, \(name)!" }
  distributed func add(_ number: Int) -> Int {
    sum += number
    return sum
  }
  distributed func clear() { sum = 0 }
  distributed var total: Int { sum }
  distributed func older(_ form: Form, by years: Int) -> Form {
    var form = form
    form.ages = form.ages.map { $0 + years }
    return form
  }
  distributed func fail(_ isTold: Bool) throws -> Int {
    if isTold { throw NoRoom() }
    throw Secret()
  }
  distributed func sleep(_ milliseconds: Int) async throws {
    notes.begun.add(1, ordering: .relaxed)
    do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch {
      notes.cancelled.add(1, ordering: .relaxed)
      throw error
    }
  }
  distributed func keep(_ word: Word) {}
  distributed func word(_ text: String) -> Word { Word(text: text) }
  distributed func length(_ text: String) -> Int { text.utf8.count }
  distributed func note(_ count: Int) -> String { String(repeating: "x", count: count) }
  /// Calls the actor that it receives as an argument.
  distributed func introduce(_ name: String, to other: Clerk) async throws -> String {
    try await other.greet("\(name) of \(id.name)")
  }
  distributed func oneself() -> Clerk { self }
  distributed func generic<Value: Codable & Sendable>(_ value: Value) -> Value { value }
  private distributed func whisper() -> String { "psst" }
  func unheard(_ name: String) -> String { name }

  nonisolated func hear(_ other: Clerk) async throws -> String? {
    try await whenLocal { _ in try await other.whisper() }
  }

  /// An actor type nested in the type.
  distributed actor Assistant {
    typealias ActorSystem = MessagingActorSystem
    distributed func add(_ number: Int) -> Int { -number }
  }
  private distributed actor Intern {
    typealias ActorSystem = MessagingActorSystem
    distributed func add(_ number: Int) -> Int { -number }
  }
  static func callIntern(_ id: MessagingActorSystem.ActorID, _ system: MessagingActorSystem)
    async throws
  {
    _ = try await Intern.resolve(id: id, using: system).add(1)
  }
  /// Calls an actor type that is local to a function.
  static func callTemp(_ id: MessagingActorSystem.ActorID, _ system: MessagingActorSystem)
    async throws
  {
    distributed actor Temp {
      typealias ActorSystem = MessagingActorSystem
      distributed func add(_ number: Int) -> Int { -number }
    }
    _ = try await Temp.resolve(id: id, using: system).add(1)
  }
}

/// State that tests read without a call.
final class Notes: Sendable {
  let begun = Atomic(0)
  let cancelled = Atomic(0)
}

extension Clerk {
  distributed func added(_ one: Int, _ other: Int) -> Int { one + other }
}

/// A type whose name begins with that of the other type.
distributed actor Clerks {
  typealias ActorSystem = MessagingActorSystem
  distributed func add(_ number: Int) -> Int { number }
}

/// A type whose name has the same length.
distributed actor Clock {
  typealias ActorSystem = MessagingActorSystem
  distributed func add(_ number: Int) -> Int { number }
}

private distributed actor Hidden {
  typealias ActorSystem = MessagingActorSystem
  distributed func add(_ number: Int) -> Int { number }
}

func hidden(_ system: MessagingActorSystem) throws -> any DistributedActor {
  try system.named("hidden") { Hidden(actorSystem: $0) }
}

func callHidden(at node: String, _ system: MessagingActorSystem) async throws -> Int {
  try await Hidden.resolve(id: .init("hidden", at: node), using: system).add(1)
}

distributed actor Box<Value: Codable & Sendable> {
  typealias ActorSystem = MessagingActorSystem
  private var values: [Value] = []
  distributed func put(_ value: Value) { values.append(value) }
}

@Resolvable
protocol Greeting: DistributedActor where ActorSystem == MessagingActorSystem {
  distributed func greeting(_ name: String) async throws -> String
}

distributed actor Polite: Greeting {
  distributed func greeting(_ name: String) -> String { "Good evening, \(name)." }
}

/// Two nodes that reach each other, with the transports that must be retained for that.
struct Nodes {
  let there: MessagingActorSystem
  let here: MessagingActorSystem
  let transports: (any Transport, any Transport)

  init(_ way: Way) throws {
    transports = try way.ends()
    // The server is shared with other tests, which may keep the machine busy for long.
    let number = UInt32.random(in: 0 ... .max)
    there = try MessagingActorSystem(
      transports.0, as: "there.* \(number)", deadline: .seconds(300))
    here = try MessagingActorSystem(transports.1, as: "here \(number)", deadline: .seconds(300))
  }

  func close() {
    there.close()
    here.close()
  }

  /// A clerk of the other node, and the reference to it on this node.
  func clerk(_ name: String = "clerk", _ notes: Notes = Notes()) throws -> (Clerk, Clerk) {
    let clerk = try there.named(name) { Clerk(actorSystem: $0, notes: notes) }
    return (clerk, try Clerk.resolve(id: .init(name, at: there.node), using: here))
  }
}
