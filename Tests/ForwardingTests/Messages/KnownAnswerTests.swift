// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Testing
import TypeEncodings

@Suite("Known answers, found without a lock")
struct KnownAnswerTests {
  private class Animal: @unchecked Sendable {}
  private final class Dog: Animal, @unchecked Sendable {}

  private final class Learner: MethodProviding, @unchecked Sendable {
    var learned: Implementation?
    func ownMethod(for selector: Selector) -> Implementation? {
      selector == "trick" ? learned : nil
    }
  }

  @Test("an answer follows changes in its class and its superclasses")
  func changes() throws {
    let dog = Dog()
    let bark: Selector = "barkLoudly"
    func isAnswered() throws -> Bool {
      // Asks again after a send, which caches the answer.
      let before = Introspection.responds(dog, to: bark)
      _ = try? Message<Int>(bark)(on: dog)
      #expect(Introspection.responds(dog, to: bark) == before)
      return before
    }
    #expect(try !isAnswered())
    try MethodTable.of(Animal.self).register(bark) { (_: Animal) in 1 }
    #expect(try isAnswered())
    MethodTable.of(Animal.self).remove(bark)
    #expect(try !isAnswered())
    try MethodTable.of(Dog.self).register(bark) { (_: Dog) in 2 }
    #expect(try isAnswered())
    MethodTable.of(Dog.self).remove(bark)
    #expect(try !isAnswered())
  }

  @Test("an object that provides methods of its own is asked each time")
  func providing() throws {
    let learner = Learner()
    for _ in 0..<2 {
      learner.learned = nil
      #expect(!Introspection.responds(learner, to: "trick"))
      #expect(Introspection.signature(of: learner, for: "trick") == nil)
      learner.learned = try Implementation { (_: Learner) in 3 }
      #expect(Introspection.responds(learner, to: "trick"))
      #expect(try Message<Int>("trick")(on: learner) == 3)
      #expect(Introspection.signature(of: learner, for: "trick")?.description == "q@:")
    }
  }

  @Test("a message of an adopted protocol has a signature, cached or not")
  func adopted() throws {
    final class Quiet: ForwardingProxy, @unchecked Sendable {}
    let quiet = Quiet()
    #expect(Introspection.signature(of: quiet, for: "whisper:") == nil)
    _ = try? Message<NoResult, Int32>("whisper:")(1, on: quiet)
    #expect(Introspection.signature(of: quiet, for: "whisper:") == nil)
    let talking = try ProtocolDescription("Talking", optional: ["whisper:": "v@:i"])
    MethodTable.of(Quiet.self).adopt(talking)
    #expect(Introspection.signature(of: quiet, for: "whisper:")?.description == "v@:i")
    #expect(!Introspection.responds(quiet, to: "whisper:"))
  }
}
