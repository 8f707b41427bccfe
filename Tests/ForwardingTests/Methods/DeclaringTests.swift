// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

@Suite("Declaring and resolving without a lock for all classes")
struct DeclaringTests {
  class Other: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      methods.register("value") { (_: Other) -> Int32 in 2 }
    }
  }

  class Waiting: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      // Another thread uses another class for the first time.
      if ends(within: 60, { _ = try? Messages.value(on: Other()) }) {
        methods.register("value") { (_: Waiting) -> Int32 in 1 }
      }
    }
  }

  class Third: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      methods.register("value") { (_: Third) -> Int32 in 3 }
    }
  }

  class Resolving: MessageForwarding {
    static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
      guard ends(within: 60, { _ = try? Messages.value(on: Third()) }) else { return false }
      return (try? table.register(selector, MethodTableTests.answering(4))) != nil
    }
  }

  @Test("a class may declare and resolve while it waits for a thread that uses another class")
  func waits() throws {
    #expect(try Messages.value(on: Waiting()) == 1)
    #expect(try Messages.value(on: Resolving()) == 4)
  }

  /// The number of threads that have begun to declare their class.
  static let bothHaveBegun = Atomic(0)

  static func waitForBoth() {
    bothHaveBegun.add(1, ordering: .sequentiallyConsistent)
    while bothHaveBegun.load(ordering: .sequentiallyConsistent) < 2 {
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  class One: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      waitForBoth()
      methods.register("value") { (_: One) -> Int32 in 1 }
      methods.register("other") { (_: Two) -> Int32 in 1 }
    }
  }

  class Two: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      waitForBoth()
      methods.register("value") { (_: Two) -> Int32 in 2 }
      methods.register("other") { (_: One) -> Int32 in 2 }
    }
  }

  @Test("two classes that declare methods of each other on two threads both finish")
  func circle() throws {
    let isOver = ends {
      onThreads(2) { _ = MethodTable.of($0 == 0 ? One.self : Two.self) }
    }
    try #require(isOver)
    let names = ["value", "other"].sorted()
    #expect(MethodTable.of(One.self).selectors.map(\.name) == names)
    #expect(MethodTable.of(Two.self).selectors.map(\.name) == names)
  }

  private enum Meeting {
    static let declares = DispatchSemaphore(value: 0)
    static let resolves = DispatchSemaphore(value: 0)

    final class Declaring: MethodDeclaring {
      static func declareMethods(_ methods: MethodDeclarations) {
        declares.signal()
        resolves.wait()
        _ = MethodTable.of(Resolving.self).instancesRespond(to: "foo")
      }
    }

    final class Resolving: MessageForwarding {
      static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
        resolves.signal()
        declares.wait()
        _ = MethodTable.of(Declaring.self)
        return false
      }
    }
  }

  @Test("a class that declares and one that resolves do not deadlock")
  func twoQuestions() {
    let isOver = ends {
      Thread { _ = MethodTable.of(Meeting.Declaring.self) }.start()
      _ = MethodTable.of(Meeting.Resolving.self).instancesRespond(to: "foo")
    }
    #expect(isOver)
  }

  class Counted: MessageForwarding, MethodDeclaring {
    static let declared = Atomic(0)
    static let asked = Atomic(0)

    static func declareMethods(_ methods: MethodDeclarations) {
      declared.add(1, ordering: .relaxed)
      // The class itself may request its table at this point.
      _ = MethodTable.of(Counted.self)
      Thread.sleep(forTimeInterval: 0.01)
      methods.register("declared") { (_: Counted) in }
    }

    static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
      asked.add(1, ordering: .relaxed)
      Thread.sleep(forTimeInterval: 0.01)
      // The resolver itself may ask, and the answer is no.
      guard !table.instancesRespond(to: selector) else { return false }
      return (try? table.register(selector, MethodTableTests.answering(5))) != nil
    }
  }

  @Test("only one of 8 threads has the class declare and resolve, and all see the outcome")
  func onlyOnce() {
    let answers = Atomic(0)
    onThreads(8) { _ in
      if Introspection.responds(Counted(), to: "declared"),
        (try? Messages.value(on: Counted())) == 5
      {
        answers.add(1, ordering: .relaxed)
      }
    }
    #expect(answers.load(ordering: .relaxed) == 8)
    #expect(Counted.declared.load(ordering: .relaxed) == 1)
    #expect(Counted.asked.load(ordering: .relaxed) == 1)
  }
}
