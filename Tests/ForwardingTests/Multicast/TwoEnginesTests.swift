// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Forwarding
import Invocations
import Testing
import TypeEncodings

/// A target that runs an action in its method, which a class registers in several ways.
private class Part: CallObject, @unchecked Sendable {
  let number: Int32
  let log: Log
  var action: (() throws -> Void)?

  init(_ number: Int, _ log: Log) { (self.number, self.log) = (Int32(number), log) }

  func note(_ value: Int32) -> Int32 {
    log.add("\(number) got \(value)")
    try? action?()
    return number * 1000 + value
  }
}

private final class Texts: Part, MethodDeclaring, @unchecked Sendable {
  static let text = try! Message<String, Int32>("partText:")

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("partText:") { (part: Texts, value: Int32) throws in
      if part.number == 4 { throw Failure(name: "4") }
      return "a text that is kept elsewhere: \(part.note(value))"
    }
  }
}

private typealias Score = @convention(c) (UnsafeRawPointer, UnsafeRawPointer, Int32) -> Int32
private typealias Tell = @convention(c) (UnsafeRawPointer, UnsafeRawPointer, Int32) -> Void

private let score: Score = { receiver, _, value in
  Unmanaged<Part>.fromOpaque(receiver).takeUnretainedValue().note(value)
}

private let tell: Tell = { receiver, _, value in
  _ = Unmanaged<Part>.fromOpaque(receiver).takeUnretainedValue().note(value)
}

private final class Nested: CallObject {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}

@Suite("Deliveries in C and in Swift")
struct TwoEnginesTests {
  @Test("a string result survives the failure of the next target, and is freed once")
  func owned() throws {
    let proxy = MulticastProxy()
    for number in [1, 3, 4] { proxy.add(Texts(number, Log()), strongly: true) }
    let call = try Texts.text.invocation(5)
    #expect(throws: Failure(name: "4")) { try call.invoke(on: proxy) }
    #expect(try call.result(as: String.self) == "a text that is kept elsewhere: 3005")
  }

  @Test("a method that is replaced during a delivery is not called for later targets")
  func replacing() throws {
    final class Late: Part, @unchecked Sendable {}
    let table = MethodTable.of(Late.self)
    try table.register(
      "score:", encoding: "i@:i", unsafeFunction: unsafeBitCast(score, to: UnsafeRawPointer.self))
    try table.register(
      "tell:", encoding: "v@:i", unsafeFunction: unsafeBitCast(tell, to: UnsafeRawPointer.self))
    try table.register("note:") { (part: Late, value: Int32) in _ = part.note(value) }
    for name in ["score:", "tell:", "note:"] as [Selector] {
      let encoding = name == "score:" ? "i@:i" : "v@:i"
      let log = Log()
      let proxy = MulticastProxy()
      let targets = (0..<4).map { Late($0, log) }
      for target in targets { proxy.add(target, strongly: true) }
      let call = try Invocation(MethodSignature(parsing: encoding), selector: name)
      try call.setArgument(Int32(5), at: 2)
      // The first send makes the method known, so that all targets are called in a row.
      try call.invoke(on: proxy)
      #expect(log.count == 4)
      #expect(call.target === proxy)
      targets[1].action = {
        log.add("replaced")
        let method = try Implementation(MethodSignature(parsing: encoding)) { _ in log.add("new") }
        table.replace(name, method)
      }
      log.clear()
      try call.invoke(on: proxy)
      #expect(log.all == ["0 got 5", "1 got 5", "replaced", "new", "new"])
    }
  }

  @Test("a call that is no message has no selector, and every proxy refuses it")
  func noMessage() throws {
    for encoding in ["v", "i", "vi"] {
      let call = try Invocation(MethodSignature(parsing: encoding))
      for proxy in [MulticastProxy(), MulticastProxy(asksOne: true)] {
        #expect(throws: InvocationError.selectorNotSet) { try proxy.forward(call) }
      }
    }
  }

  @Test("a C function with a result in memory answers for each target")
  func resultInMemory() throws {
    final class Window {
      let width: Double
      init(_ width: Double) { self.width = width }
    }
    typealias Frame = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> FixtureRectangle
    let frame: Frame = { receiver, _ in
      let window = unsafe Unmanaged<Window>.fromOpaque(receiver).takeUnretainedValue()
      return FixtureRectangle(origin: .init(x: 1, y: 2), size: .init(x: window.width, y: 4))
    }
    try unsafe MethodTable.of(Window.self).register(
      "frame", encoding: "\(FixtureRectangle.typeEncoding)@:",
      unsafeFunction: unsafeBitCast(frame, to: UnsafeRawPointer.self))
    let proxy = MulticastProxy()
    for width in [3.0, 5.0] { proxy.add(Window(width), strongly: true) }
    let message = try Message<FixtureRectangle>("frame")
    #expect(try message(on: proxy).size.x == 5)
    #expect(try message.all(on: proxy).map(\.size.x) == [3, 5])
  }

  @Test("an answer may ask again, a hundred times deep")
  func nested() throws {
    let proxies = (0..<100).map { _ in MulticastProxy() }
    for (index, proxy) in proxies.enumerated() {
      let part = Texts(index * 5, Log())
      let next = index + 1 < proxies.count ? proxies[index + 1] : nil
      part.action = { if let next { #expect((try? Texts.text.all(1, on: next))?.count == 1) } }
      proxy.add(part, strongly: true)
    }
    #expect(try Texts.text.all(1, on: proxies[0]).count == 1)
  }

  @Test(
    "each delivery uses its list as it was, deeper than a thread has hold slots",
    arguments: [true, false])
  func lists(isKept: Bool) async {
    await #expect(processExitsWith: .success) { [isKept = isKept as Bool] in
      nonisolated(unsafe) var reached = 0
      try MethodTable.of(Nested.self).register("reach") { (target: Nested) in target.body() }
      let proxies = (0..<60).map { _ in MulticastProxy() }
      var targets: [Nested] = []
      for (index, proxy) in proxies.enumerated() {
        if index + 1 < proxies.count { proxy.add(proxies[index + 1], strongly: true) }
        for _ in 0..<8 {
          let target = Nested { reached += 1 }
          targets.append(target)
          proxy.add(target)
        }
      }
      // The innermost target replaces all lists, and the memory of the old ones is overwritten.
      let innermost = Nested {
        for proxy in proxies {
          let other = Nested {}
          _ = proxy.add(other)
          proxy.remove(other)
          _ = try? Message<NoResult>("reach")(on: Nested {})
        }
        let fill = (0..<40000).map { [UInt](repeating: UInt(0x5555_5555), count: 4 + $0 % 64) }
        precondition(fill.count == 40000)
      }
      proxies[59].add(innermost)
      if isKept {
        let call = try Message<NoResult>("reach").invocation()
        try call.invoke(on: proxies[0])
      } else {
        try Message<NoResult>("reach")(on: proxies[0])
      }
      precondition(reached == 480, "reached \(reached)")
      withExtendedLifetime(targets) {}
    }
  }
}
