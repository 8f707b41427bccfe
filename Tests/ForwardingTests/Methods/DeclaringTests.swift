import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing

@Suite("Classes declare and resolve without a lock of all classes")
struct DeclaringTests {
  class Slow: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      Thread.sleep(forTimeInterval: 0.02)
      methods.register("value") { (_: Slow) -> Int32 in 6 }
    }
  }

  /// Once a second thread could send to a class that was still declaring, and was told that there
  /// was no such method.
  @Test("8 threads that send at first all find the methods")
  func once() {
    let answers = Atomic(0)
    onThreads(8) { _ in
      if (try? Messages.value(on: Slow())) == 6 { answers.add(1, ordering: .relaxed) }
    }
    #expect(answers.load(ordering: .relaxed) == 8)
  }

  class Other: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      methods.register("value") { (_: Other) -> Int32 in 2 }
    }
  }

  class Waiting: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      // Another thread touches another class for the first time.
      if ends(within: 60, { _ = try? Messages.value(on: Other()) }) {
        methods.register("value") { (_: Waiting) -> Int32 in 1 }
      }
    }
  }

  @Test("a class that declares while it waits for another class's thread does not wait for ever")
  func declaringWaits() throws {
    #expect(try Messages.value(on: Waiting()) == 1)
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

  @Test("a class that resolves while it waits for another class's thread does not wait for ever")
  func resolvingWaits() throws {
    #expect(try Messages.value(on: Resolving()) == 4)
  }

  /// Both threads are in the middle of their class when they ask for the other.
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

  @Test("two classes that declare methods of each other on two threads both end")
  func circle() throws {
    let isOver = ends {
      onThreads(2) { _ = MethodTable.of($0 == 0 ? One.self : Two.self) }
    }
    try #require(isOver)
    let names = ["value", "other"].sorted()
    #expect(MethodTable.of(One.self).selectors.map(\.name) == names)
    #expect(MethodTable.of(Two.self).selectors.map(\.name) == names)
  }

  class Counted: MessageForwarding, MethodDeclaring {
    static let declared = Atomic(0)
    static let asked = Atomic(0)

    static func declareMethods(_ methods: MethodDeclarations) {
      declared.add(1, ordering: .relaxed)
      // The class itself asks for its table meanwhile, and gets it.
      _ = MethodTable.of(Counted.self)
      methods.register("declared") { (_: Counted) in }
    }

    static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
      asked.add(1, ordering: .relaxed)
      Thread.sleep(forTimeInterval: 0.01)
      // The resolver itself may ask, and is told no.
      guard !table.instancesRespond(to: selector) else { return false }
      return (try? table.register(selector, MethodTableTests.answering(5))) != nil
    }
  }

  @Test("of 8 threads one lets the class declare and resolve, and all see what came of it")
  func onlyOnce() {
    let answers = Atomic(0)
    onThreads(8) { _ in
      if (try? Messages.value(on: Counted())) == 5 { answers.add(1, ordering: .relaxed) }
    }
    #expect(answers.load(ordering: .relaxed) == 8)
    #expect(Counted.declared.load(ordering: .relaxed) == 1)
    #expect(Counted.asked.load(ordering: .relaxed) == 1)
  }
}
