// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

private struct Refusal: Error, Equatable {
  let number: Int32
}

/// A closure that captures generic parameters.
private func sorted<Element: Comparable>(_ elements: [Element]) -> [Element] {
  var elements = elements
  withCallback({ (a: UnsafeRawPointer, b: UnsafeRawPointer) -> Int32 in
    let (a, b) = unsafe (a.load(as: Element.self), b.load(as: Element.self))
    return a < b ? -1 : a > b ? 1 : 0
  }) { order, _ in
    unsafe elements.withUnsafeMutableBytes { bytes in
      let size = MemoryLayout<Element>.stride
      guard let start = bytes.baseAddress else { return }
      unsafe qsort(start, bytes.count / size, size, order.function())
    }
  }
  return elements
}

@Suite("Closures that C calls only during a call")
struct ScopedCallbackTests {
  @Test("the closure changes variables, also of generic types, and the scope's result is returned")
  func captures() {
    var numbers: [Int32] = (0..<200).map { ($0 &* 7919) % 1009 }
    var calls = 0
    let first = withCallback({ (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
      calls += 1
      return a.pointee < b.pointee ? -1 : a.pointee > b.pointee ? 1 : 0
    }) { order, _ in
      unsafe qsort(&numbers, numbers.count, 4, order.function())
      return numbers[0]
    }
    #expect(numbers == numbers.sorted())
    #expect(first == numbers[0])
    #expect(calls > 200)
    #expect(sorted([3, 1, 2] as [Int16]) == [1, 2, 3])
    #expect(sorted(["c", "a", "b"]) == ["a", "b", "c"])
  }

  @Test("an error is thrown as it was, with its type; C gets zero, and calls nothing more")
  func errors() {
    var calls = 0
    var answers: [Int32] = []
    do throws(Refusal) {
      try withCallback({ (number: Int32) throws(Refusal) -> Int32 in
        calls += 1
        if number == 2 { throw Refusal(number: number) }
        return number
      }) { pointer, _ throws(Refusal) in
        let function = unsafe pointer.function(as: (@convention(c) (Int32) -> Int32).self)
        for number in 1...4 { answers.append(function(Int32(number))) }
      }
      Issue.record("nothing was thrown")
    } catch {
      #expect(error == Refusal(number: 2))
    }
    #expect(answers == [1, 0, 0, 0])
    #expect(calls == 2)
    // An error of the scope itself.
    #expect(throws: Refusal(number: 7)) {
      try withCallback({ (_: Int32) -> Int32 in 1 }) { _, _ in throw Refusal(number: 7) }
    }
  }

  @Test("values of all kinds of registers, in memory, and of more arguments arrive and return")
  func values() {
    withCallback({ () -> Int64 in .min }) { pointer, _ in
      let function: @convention(c) () -> Int64 = unsafe pointer.function()
      #expect(function() == .min)
    }
    withCallback({ (a: Double, b: Int8, c: Float, d: Bool) -> Float in
      Float(a) + Float(b) + c + (d ? 100 : 0)
    }) { pointer, _ in
      let function: @convention(c) (Double, Int8, Float, Bool) -> Float = unsafe pointer.function()
      #expect(function(0.5, -3, 0.25, true) == 97.75)
    }
    withCallback({ (a: FixturePoint, b: Int) in FixturePoint(x: a.y, y: a.x + Double(b)) }) {
      pointer, _ in
      let function: @convention(c) (FixturePoint, Int) -> FixturePoint = unsafe pointer.function()
      #expect(function(FixturePoint(x: 1, y: 2), 4) == FixturePoint(x: 2, y: 5))
    }
    withCallback({ (a: UnsafeRawPointer?, b: String) in a == nil ? b.count : 0 }) { pointer, _ in
      typealias Function = @convention(c) (UnsafeRawPointer?, UnsafePointer<CChar>) -> Int
      #expect(unsafe pointer.function(as: Function.self)(nil, "four") == 4)
    }
    withCallback({ (a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int8) -> Int in
      a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + Int(h)
    }) { pointer, _ in
      typealias Function = @convention(c) (Int, Int, Int, Int, Int, Int, Int, Int8) -> Int
      #expect(unsafe pointer.function(as: Function.self)(1, 1, 1, 1, 1, 1, 1, -28) == 0)
    }
    let rectangle = FixtureRectangle(
      origin: FixturePoint(x: 1, y: 2), size: FixturePoint(x: 3, y: 4))
    var seen: FixtureRectangle?
    withCallback({ (r: FixtureRectangle) in seen = r }) { pointer, _ in
      let function: @convention(c) (FixtureRectangle) -> Void = unsafe pointer.function()
      function(rectangle)
    }
    #expect(seen == rectangle)
    withCallback({ (m: FixtureMixed) in FixtureMixed(number: m.number + 1, value: -m.value) }) {
      pointer, _ in
      let function: @convention(c) (FixtureMixed) -> FixtureMixed = unsafe pointer.function()
      let answer = function(FixtureMixed(number: 1, value: 2))
      #expect((answer.number, answer.value) == (2, -2))
    }
  }

  @Test("scopes inside of scopes have functions of their own, at any depth")
  func nested() {
    var addresses: Set<UnsafeRawPointer> = []
    var total = 0
    func enter(_ depth: Int) {
      withCallback({ (number: Int) in total += number * depth }) { pointer, _ in
        unsafe addresses.insert(pointer.address)
        if depth < 600 { enter(depth + 1) }
        unsafe pointer.function(as: (@convention(c) (Int) -> Void).self)(1)
      }
    }
    enter(1)
    #expect(addresses.count == 600)
    #expect(total == 600 * 601 / 2)
  }

  @Test("many threads have scopes at the same time")
  func threads() {
    let totals = Guarded(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<2000 {
        var count = 0
        withCallback({ (number: Int) in count += number }) { pointer, _ in
          let add = unsafe pointer.function(as: (@convention(c) (Int) -> Void).self)
          for number in 0..<4 { add(number) }
        }
        totals.withLock { $0 += count }
      }
    }
    #expect(totals.withLock { $0 } == 8 * 2000 * 6)
  }

  @Test(
    "an argument that the closure does not take answers zero, and is reported", arguments: [0, 1])
  func refusedArguments(prefersLibffi: Int32) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      var calls = 0
      try withCallback({ (number: UnsafePointer<Int>) in
        calls += 1
        return unsafe number.pointee
      }) { pointer, _ in
        typealias Function = @convention(c) (UnsafePointer<Int>?) -> Int
        let function = unsafe pointer.function(as: Function.self)
        let none = function(nil)
        try #require(none == 0 && calls == 0)
        var number = 42
        let some = unsafe function(&number)
        try #require(some == 42)
      }
      try withCallback({ (text: String) in
        calls += 1
        return text.utf8.count
      }) { pointer, _ in
        typealias Function = @convention(c) (UnsafePointer<UInt8>) -> Int
        let function = unsafe pointer.function(as: Function.self)
        let answers = unsafe [function([0x63, 0xe9, 0]), function([0x63, 0x61, 0])]
        try #require(answers == [0, 2] && calls == 2)
      }
    }
    let said = try printed(result)
    #expect(said.contains("argument 0 is NULL; make the type optional"))
    #expect(said.contains("argument 0 is NULL or not UTF-8; use 'String?'"))
  }
}
