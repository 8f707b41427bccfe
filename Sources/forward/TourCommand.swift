// SPDX-License-Identifier: Apache-2.0
import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `forward tour`: a short narrated run. Every line of output is printed by code that has run.
enum TourCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.isEmpty else { throw options.fault("tour takes no arguments") }
    Terminal.out(Terminal.styled("A tour of swift-forwarding", .bold))
    let chapters: [(String, () throws -> Void)] = [
      ("A type is a string: it has a size, members, and a place for every fault", types),
      ("A signature becomes a plan: every argument gets its register once", signatures),
      ("Functions under encoding strings: C and Swift side by side", functions),
      ("An invocation: a call recorded once, invoked on any target", invocations),
      ("Forwarding: an object without a method may still find an answer", forwarding),
      ("Values of any Swift type travel where they lie, and text as text", values),
      ("A proxy that speaks to many, and knows whose answer counts", multicast),
      ("The other way: a C function pointer that Swift answers", callbacks),
      ("A change that is recorded can be taken back, and made again", undo),
      ("A journal: calls in a file, made again on another object", JournalTour.run),
      ("What it costs here, beside closures", costs),
    ]
    for (index, (title, chapter)) in chapters.enumerated() {
      Terminal.out()
      Terminal.out(Terminal.styled("\(index + 1)  \(title)", .cyan))
      try chapter()
    }
    Terminal.out()
    Terminal.out("Next: 'forward doctor' checks this machine, 'forward --help' lists the commands.")
    return .ok
  }

  static func say(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      Terminal.out("   " + line)
    }
  }

  /// Prints a line of code and its result.
  static func show(_ code: String, _ answer: String) {
    let padding = String(repeating: " ", count: max(1, 56 - code.count))
    Terminal.out("   " + code + padding + Terminal.styled("// " + answer, .dim))
  }

  // MARK: Chapters

  private static func types() throws {
    let rectangle = try TypeEncoding(parsing: "{CGRect={CGPoint=dd}{CGSize=dd}}")
    show("TypeEncoding(parsing: \"\(rectangle)\").layout", "\(try rectangle.layout)")
    let flags = try TypeEncoding(parsing: "{flags=b0I3b3I5b8I7}")
    show("TypeEncoding(parsing: \"\(flags)\").layout", "\(try flags.layout)")
    say("Broken ones are refused with a caret:")
    do {
      _ = try MethodSignature(parsing: "v@:{CGPoint=dd")
    } catch {
      say("\(error)")
    }
  }

  private static func signatures() throws {
    let signature = try MethodSignature("i@:{pair=id}d[4c]")
    let plan = try CallPlan(signature)
    for (index, type) in signature.argumentTypes.enumerated() {
      show("\(index)  \(type)", try plan.location(ofArgument: index).text)
    }
  }

  private static func functions() throws {
    let functions = FunctionTable()
    // SAFETY: C declares `double pow(double, double)`.
    unsafe try functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
    try functions.register("greet") { (name: String) in "hello, \(name)" }
    let power = try functions.call("pow", 2.0, 10.0, returning: Double.self)
    show("functions.call(\"pow\", 2.0, 10.0)", "\(power)")
    let greeting = try functions.call("greet", "Linux", returning: String.self)
    show("functions.call(\"greet\", \"Linux\")", greeting)
    do {
      _ = try functions.call("pow", 2.0, Float(10), returning: Double.self)
    } catch {
      show("functions.call(\"pow\", 2.0, Float(10))", "\(error)")
    }
  }

  private final class Counter {
    let name: String
    var value: Int32
    init(_ name: String, _ value: Int32) { (self.name, self.value) = (name, value) }
  }

  private static func invocations() throws {
    try MethodTable.of(Counter.self).register("add:to:") {
      (counter: Counter, a: Int32, b: Int32) -> Int32 in
      counter.value += a + b
      return counter.value
    }
    let call = try Invocation(MethodSignature("i@:ii"), selector: "add:to:")
    try call.setArgument(Int32(2), at: 2)
    try call.setArgument(Int32(3), at: 3)
    for counter in [Counter("one", 100), Counter("two", 200)] {
      try call.invoke(on: counter)
      show("call.invoke(on: \(counter.name))", "\(try call.result(as: Int32.self))")
    }
    try call.invoke(on: nil)
    show("call.invoke(on: nil)", "\(try call.result(as: Int32.self)), as a message to nil")
    do {
      try call.setArgument(2.5, at: 2)
    } catch {
      show("call.setArgument(2.5, at: 2)", "\(error)")
    }
    say("\(call)")
  }

  /// Prints each step of forwarding that it is asked for.
  private final class Secretary: MessageForwarding {
    let chief = Counter("chief", 1000)

    static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
      TourCommand.say("  resolve \(selector)?          no method is added")
      return false
    }
    func forwardingTarget(for selector: Selector) -> AnyObject? {
      TourCommand.say("  another target?           none")
      return nil
    }
    func methodSignature(for selector: Selector) -> MethodSignature? {
      TourCommand.say("  a signature?              i@:ii")
      return try? MethodSignature("i@:ii")
    }
    func forward(_ invocation: Invocation) throws {
      TourCommand.say("  forward                   to the chief")
      try invocation.invoke(on: chief)
    }
  }

  private static func forwarding() throws {
    let add = try Message<Int32, Int32, Int32>("add:to:")
    say("add(2, 3, on: secretary), who has no such method:")
    let answer = try add(2, 3, on: Secretary())
    show("the sender gets", "\(answer)")
    do {
      try Message<Int32, Int32, Int32>("ad:to:")(2, 3, on: Counter("one", 1))
    } catch {
      show("Message(\"ad:to:\")(2, 3, on: counter)", "\(error)")
    }
  }

  /// A structure without a description of how it is passed.
  private struct Letter {
    var text: String
    var pages: [Int]
  }

  private static func values() throws {
    let office = ClosureTarget()
    try office.register("post:") { (letter: Letter) -> String? in
      letter.pages.isEmpty ? nil : "\(letter.text), \(letter.pages.count) pages"
    }
    try office.register("count:") { (text: String) in text.count }
    let post = try Message<String?, Letter>("post:")
    for letter in [Letter(text: "hello", pages: [1, 2]), Letter(text: "", pages: [])] {
      show("post(\(letter), on: office)", try post(letter, on: office) ?? "nil")
    }
    show("post.signature", "\(post.signature)")
    let count = try Message<Int, String>("count:")
    show("count(\"grüße\\0👋\", on: office)", "\(try count("grüße\0👋", on: office))")
    do {
      _ = try Message<String?, [Int]>("post:")([1, 2], on: office)
    } catch {
      say("Another type is refused before the call:\n\(error)")
    }
  }

  private static func multicast() throws {
    let everyone = MulticastProxy()
    let (one, two) = (Counter("one", 10), Counter("two", 20))
    var three: Counter? = Counter("three", 30)
    everyone.add(one)
    everyone.add(two, priority: 1)
    if let three { everyone.add(three) }
    let add = try Message<Int32, Int32, Int32>("add:to:")
    show(
      "add.all(1, 1, on: everyone), two has priority",
      "\(try add.all(1, 1, on: everyone))")
    three = nil
    show("three dies; add(1, 1, on: everyone), the last counts", "\(try add(1, 1, on: everyone))")
    show("everyone.count, as the dead vanish by themselves", "\(everyone.count)")
    let report = try everyone.deliver(Message<NoResult>("sleep").invocation())
    show("everyone.deliver(sleep)", report.entries.map { "\($0.outcome)" }.joined(separator: ", "))
    withExtendedLifetime((one, two)) {}
  }

  private static func callbacks() throws {
    let compare = unsafe try Callback {
      (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
      unsafe b.pointee < a.pointee ? -1 : 1
    }
    typealias Comparator = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
    var numbers: [Int32] = [3, 1, 4, 1, 5, 9, 2, 6]
    let function = unsafe try compare.function(as: Comparator.self)
    unsafe qsort(&numbers, numbers.count, MemoryLayout<Int32>.stride, function)
    withExtendedLifetime(compare) {}
    show("qsort(&numbers, 8, 4, compare.function)", "\(numbers)")
  }

  private static func costs() throws {
    var runner = Runner()
    runner.rounds = 40
    say(BenchCommand.table(try BenchCommand.measure(runner)))
  }
}
