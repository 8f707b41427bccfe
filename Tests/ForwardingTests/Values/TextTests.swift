// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import InvocationText
import Invocations
import Testing
import TypeEncodings

private final class Reader: CallObject, @unchecked Sendable {
  var seen: [String?] = []
}

private struct Refusal: Error {}

/// Text in two words, and text that is stored on the heap.
private let texts = ["short", "a text that is too long to be small", "long, and zażółć 🌍 inside"]

private let hasMethods: Void = {
  let table = MethodTable.of(Reader.self)
  do {
    try table.register("read:") { (reader: Reader, text: String) in reader.seen.append(text) }
    try table.register("readAny:") { (reader: Reader, text: String?) in reader.seen.append(text) }
    try table.register("echo:") { (_: Reader, text: String) in text }
    try table.register("echoAny:") { (_: Reader, text: String?) in text }
    try table.register("refuse:") { (_: Reader, text: String) throws -> String in throw Refusal() }
    try unsafe table.register(
      "length:", encoding: "Q@:*",
      unsafeFunction: unsafe unsafeBitCast(length, to: UnsafeRawPointer.self))
    try unsafe table.register(
      "tail:", encoding: "*@:*",
      unsafeFunction: unsafe unsafeBitCast(tail, to: UnsafeRawPointer.self))
  } catch {
    Issue.record(error)
  }
}()

private let length:
  @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?, UnsafePointer<CChar>?) -> UInt =
    { _, _, text in unsafe text.map { unsafe UInt(String(cString: $0).utf8.count) } ?? 99 }

private let tail:
  @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?, UnsafePointer<CChar>?)
    -> UnsafePointer<CChar>? = { _, _, text in unsafe text.map { unsafe $0 + 1 } }

@Suite("Text between Swift methods", .serialized)
struct TextTests {
  private let reader = Reader()

  init() { _ = hasMethods }

  @Test("text is no C string: the same memory arrives")
  func noCopy() throws {
    // Large text is on the heap, so the address shows whether two strings share memory.
    let text = String(repeating: "long ", count: 20)
    let address = text.utf8.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) }
    let target = ClosureTarget()
    let found = Guarded<UInt?>(nil)
    try target.register("read:") { (text: String) in
      let address = text.utf8.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) }
      found.withLock { $0 = address }
    }
    try Message<Void, String>("read:")(text, on: target)
    #expect(found.read { $0 } == address)
  }

  @Test("optional and plain text are of one type")
  func bothWays() throws {
    try Message<Void, String>("readAny:")("text", on: reader)
    try Message<Void, String?>("read:")("text", on: reader)
    #expect(reader.seen == ["text", "text"])
    #expect(throws: InvocationError.notText(index: 2)) {
      try Message<Void, String?>("read:")(nil, on: reader)
    }
    #expect(reader.seen.count == 2)
  }

  @Test("text has the same encoding as before, so that signatures agree")
  func spelling() throws {
    let message = try Message<String, String>("echo:")
    #expect("\(message.signature)" == "*@:*")
    #expect(try message.signature == MethodSignature(method: "*@:*"))
    #expect(Introspection.signature(of: reader, for: "echo:") == message.signature)
  }

  @Test("text becomes a C string for a C method, and back")
  func toC() throws {
    #expect(try Message<UInt, String>("length:")("seven..", on: reader) == 7)
    #expect(try Message<UInt, String?>("length:")(nil, on: reader) == 99)
    #expect(try Message<String, String>("tail:")("tail", on: reader) == "ail")
    #expect(try Message<String?, String?>("tail:")(nil, on: reader) == nil)
    #expect(throws: InvocationError.embeddedNUL(offset: 1)) {
      try Message<UInt, String>("length:")("a\0b", on: reader)
    }
  }

  @Test("a large text reaches a C method, and a text of its own comes back", arguments: texts)
  func toCWhole(text: String) throws {
    #expect(try Message<UInt, String>("length:")(text, on: reader) == UInt(text.utf8.count))
    #expect(try Message<String, String>("tail:")(text, on: reader) == String(text.dropFirst()))
  }

  @Test("a C method that returns no UTF-8 is an error, and the next call is not")
  func notText() throws {
    #expect(throws: InvocationError.notText(index: nil)) {
      try Message<String, String>("tail:")("é", on: reader)
    }
    #expect(try Message<String, String>("tail:")("tail", on: reader) == "ail")
  }

  @Test("text from a C call reaches a Swift method, and is returned")
  func fromC() throws {
    let call = try Invocation(MethodSignature(method: "*@:*"), selector: "echo:")
    for text in ["one", "two, which is longer than a small string"] {
      try call.setArgument(text, at: 2)
      try call.invoke(on: reader)
      #expect(try call.result(as: String.self) == text)
    }
    try call.setSelector("refuse:")
    #expect(throws: Refusal.self) { try call.invoke(on: reader) }
    try call.setArgument(String?.none, at: 2)
    try call.setSelector("echo:")
    #expect(throws: InvocationError.notText(index: 2)) { try call.invoke(on: reader) }
    try call.setSelector("echoAny:")
    try call.invoke(on: reader)
    #expect(try call.result(as: String?.self) == nil)
  }

  @Test("text reaches targets of both kinds in one delivery")
  func mixed() throws {
    let proxy = MulticastProxy()
    proxy.resultRule = .last
    let length = try unsafe Implementation(
      methodEncoding: "v@:*",
      unsafeFunction: unsafe unsafeBitCast(tail, to: UnsafeRawPointer.self))
    final class Native: CallObject {}
    MethodTable.of(Native.self).declare([("read:", length)])
    let (one, native, two) = (reader, Native(), Reader())
    for target in [one, native, two] as [AnyObject] { proxy.add(target, strongly: true) }
    for _ in 0..<3 { try Message<Void, String>("read:")("text", on: proxy) }
    #expect(one.seen == ["text", "text", "text"])
    #expect(two.seen == ["text", "text", "text"])
    let call = try Invocation(MethodSignature(method: "v@:*"), selector: "read:")
    try call.setArgument("from C", at: 2)
    let report = try proxy.deliver(call)
    #expect(report.answered == 3)
    #expect(two.seen.last == "from C")
  }

  @Test("text is retained with the invocation, and changed by setting it")
  func kept() throws {
    let call = try Message<String, String>("echo:").invocation(
      "a text that is long enough to count")
    #expect(try call.argument(at: 2, as: String.self) == "a text that is long enough to count")
    #expect(call.arguments.first as? String == "a text that is long enough to count")
    #expect("\(call)".contains("\"a text that is long enough to count\""))
    try call.setArgument("another text, of the same length", at: 2)
    let copy = call.copy()
    try call.setArgument(String?.none, at: 2)
    try copy.invoke(on: reader)
    #expect(try copy.result(as: String.self) == "another text, of the same length")
    try copy.setResult("replaced")
    #expect(copy.resultValue as? String == "replaced")
    #expect(throws: InvocationError.notText(index: 2)) { try call.invoke(on: reader) }
  }

  @Test("text has no C bytes that could be read or set")
  func bytes() throws {
    let call = try Message<String, String>("echo:").invocation("text")
    #expect(throws: InvocationError.self) { try call.argumentBytes(at: 2) }
    #expect(throws: InvocationError.self) {
      unsafe try call.setArgument(bytes: [UInt8](repeating: 0, count: 8), at: 2)
    }
    try call.invoke(on: reader)
    #expect(throws: InvocationError.self) { try call.resultBytes() }
    #expect(try call.argumentsJSON == "[\"text\"]")
    #expect(try call.resultJSON == "\"text\"")
  }

  @Test("text becomes a C string for a function with errno")
  func functionWithErrno() throws {
    let call = try Message<UInt, String>("length:").invocation("five.")
    let code = unsafe unsafeBitCast(length, to: UnsafeRawPointer.self)
    #expect(try unsafe call.invokeCapturingErrno(using: code) == 0)
    #expect(try call.result(as: UInt.self) == 5)
  }

  @Test("a result that the old result sets in its deinit is released when C code has run")
  func resultOfDyingResult() throws {
    final class Dying: CallObject {
      private let end: () -> Void
      init(_ end: @escaping () -> Void) { self.end = end }
      deinit { end() }
    }
    let function:
      @convention(c) (
        UnsafeRawPointer?, UnsafeRawPointer?, UnsafePointer<CChar>?
      ) -> UnsafeRawPointer? = { _, _, _ in nil }
    weak var stray: Dying?
    let call = try Message<AnyCallObject?, String>("x:").invocation("a")
    var isOver = false
    do {
      let dying = Dying { [unowned call] in
        let other = Dying {}
        stray = other
        isOver = (try? call.setResult(other)) != nil
      }
      try call.setResult(dying)
    }
    try unsafe call.invoke(using: unsafeBitCast(function, to: UnsafeRawPointer.self))
    #expect(isOver)
    try call.setResult(Dying {})
    #expect(stray == nil)
  }
}
