// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Testing
import TypeEncodings

/// How long the values of a kept call live is in `LifetimeTests`.
@Suite("Kept calls")
struct KeptCallTests {
  @Test("a call without a selector, and one of a function, is not kept")
  func withoutSelector() throws {
    for encoding in ["v@:i", "iii", "v"] {
      let call = try Invocation(MethodSignature(parsing: encoding))
      #expect(throws: InvocationError.selectorNotSet) { try KeptCall.of(call.call) }
    }
  }

  @Test(
    "the types of a call say whether its values are enough to make it later",
    arguments: [
      ("v@:i", true), ("v@:@*d", true), ("v@:", true), ("i@:", false), ("v@:^v", false),
      ("v@:@?", false), ("v@:{CGSize=dd}", false), ("v@:qqqqqqqqqq", true), ("v#:i", false),
    ] as [(String, Bool)])
  func kinds(encoding: String, isEnough: Bool) throws {
    #expect(try CallPlan.shared(for: MethodSignature(parsing: encoding)).travels == isEnough)
  }

  @Test("words in registers and on the stack, and structures in both, are kept")
  func words() throws {
    let call = try Invocation(
      MethodSignature(parsing: "i@:qqqqdfq{CGSize=dd}{Large=qqq}"), selector: "a:b:c:d:e:f:g:h:i:")
    for index in 2...10 {
      let size = try call.argumentBytes(at: index).count
      try call.setArgument(bytes: (0..<size).map { UInt8($0 + index) }, at: index)
    }
    let copy = try KeptCall.of(call.call).invocation()
    for index in 2...10 {
      #expect(try copy.argumentBytes(at: index) == call.argumentBytes(at: index), "\(index)")
    }
    #expect(copy.selector == call.selector)
  }

  /// A Swift value with an object.
  private struct Pair {
    let object: Tracked
    let number: Int
  }

  /// A value that is aligned to more than a word.
  private struct Wide: Equatable { var numbers: SIMD2<UInt64> }

  @Test("a list of calls owns all of their values, of any Swift types")
  func list() throws {
    let census = Census()
    let messages = try ["a:b:c:d:", "e:f:g:h:"].map {
      try Message<NoResult, Pair, String, Wide, Int>(Selector(interning: $0))
    }
    try {
      let list = try (0..<300).map { number in
        let call = try messages[number % 100 < 90 ? 0 : 1].invocation(
          Pair(object: Tracked(in: census), number: number), "a long text, on the heap",
          Wide(numbers: [1, UInt64(number)]), number)
        return try KeptCall.of(call.call)
      }
      #expect(census.alive == 300)
      for (number, kept) in list.enumerated() {
        let copy = kept.invocation()
        #expect(kept.selector == messages[number % 100 < 90 ? 0 : 1].selector)
        #expect(try copy.argument(at: 2, as: Pair.self).number == number)
        #expect(try copy.argument(at: 3, as: String.self) == "a long text, on the heap")
        #expect(try copy.argument(at: 4, as: Wide.self).numbers[1] == UInt64(number))
        #expect(try copy.argument(at: 5, as: Int.self) == number)
      }
    }()
    #expect(census.alive == 0)
  }
}
