// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Foundation
import Invocations
import TypeEncodings

/// `forward tour`: a short narrated run. Every line of output is printed by code that has run.
enum TourCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.isEmpty else { throw options.fault("tour takes no arguments") }
    Terminal.out(Terminal.styled("A tour of swift-forwarding", .bold))
    var chapters: [(String, () throws -> Void)] = [
      ("Call functions by name, with their types as an encoding string", functions),
      ("Record a call once, and send it to one object or to many", invocations),
      ("Give C a function pointer to a Swift closure", callbacks),
    ]
    #if Macros
      chapters.insert(("Put many delegates behind one object of your protocol", delegates), at: 2)
    #endif
    for (index, (title, chapter)) in chapters.enumerated() {
      Terminal.out("\n" + Terminal.styled("\(index + 1)  \(title)", .cyan))
      try chapter()
    }
    Terminal.out("\nNext: 'forward doctor' checks this machine, and 'forward bench' measures it.")
    return .ok
  }

  /// Prints a line of code and its result.
  private static func show(_ code: String, _ answer: String) {
    let padding = String(repeating: " ", count: max(1, 52 - code.count))
    Terminal.out("   " + code + padding + Terminal.styled("// " + answer, .dim))
  }

  /// Prints the error with which a call is refused before it is made.
  private static func showError(_ code: String, _ body: () throws -> Void) {
    do { try body() } catch { show(code, "\(error)") }
  }

  // MARK: Chapters

  private static func functions() throws {
    let functions = FunctionTable()
    // SAFETY: C declares `double pow(double, double)`.
    unsafe try functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
    try functions.register("greet") { (name: String) in "hello, \(name)" }
    let power = try functions.call("pow", 2.0, 10.0, returning: Double.self)
    show("functions.call(\"pow\", 2.0, 10.0, returning: Double.self)", "\(power)")
    let greeting = try functions.call("greet", "Linux", returning: String.self)
    show("functions.call(\"greet\", \"Linux\", returning: String.self)", greeting)
    showError("functions.call(\"pow\", 2.0, Float(10), returning: Double.self)") {
      _ = try functions.call("pow", 2.0, Float(10), returning: Double.self)
    }
    do {
      _ = try MethodSignature(parsing: "v@:{CGPoint=dd")
    } catch {
      Terminal.out("   An error in an encoding shows the place:\n\(error)")
    }
  }

  private final class Counter {
    var value: Int32
    init(_ value: Int32) { self.value = value }
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
    let (one, two) = (Counter(100), Counter(200))
    try call.invoke(on: one)
    show("call.invoke(on: one)", "\(try call.result(as: Int32.self))")
    let everyone = MulticastProxy()
    everyone.add(one)
    everyone.add(two)
    let answers = try everyone.answers(to: call, as: Int32.self)
    show("everyone.answers(to: call, as: Int32.self)", "\(answers)")
    showError("call.setArgument(2.5, at: 2)") { try call.setArgument(2.5, at: 2) }
    showError("Message<Int32, Int32, Int32>(\"ad:to:\")(2, 3, on: one)") {
      try Message<Int32, Int32, Int32>("ad:to:")(2, 3, on: one)
    }
  }

  #if Macros
    private final class Window: TourDelegate {
      func didSave(_ file: String) { show("window", "didSave(\(file))") }
      func mayClose() -> Bool { false }
    }

    private static func delegates() throws {
      let delegates = Multicast<TourDelegateProxy>()
      let (window, sidebar) = (Window(), Window())
      delegates.add(window)
      delegates.add(sidebar)
      show("delegates.proxy.didSave(\"notes\")", "each delegate is called:")
      delegates.proxy.didSave("notes")
      show("delegates.proxy.mayClose()", "\(delegates.proxy.mayClose())")
      withExtendedLifetime((window, sidebar)) {}
    }
  #endif

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
    show("qsort(&numbers, numbers.count, 4, function)", "\(numbers)")
  }
}

#if Macros
  /// The delegate of the tour.
  @Forwardable
  protocol TourDelegate: AnyObject {
    func didSave(_ file: String)
    @Otherwise(true) func mayClose() -> Bool
  }
#endif
