// SPDX-License-Identifier: Apache-2.0
import Foundation
import InvocationText
import Invocations
import TypeEncodings

/// The self-checks of `forward doctor`: calls with known results.
enum SelfChecks {
  struct Outcome {
    var name: String
    var isPassed: Bool
    var detail: String
  }

  static func all() -> [Outcome] {
    samples().map { sample in
      attempt("\(sample.function), \(sample.encoding)") { try both(sample) }
    } + [
      attempt("a variadic function: snprintf") { try variadic() },
      attempt("errno after a call: close(-1)") { try errnoIsCaptured() },
      attempt("a callback in qsort") { try callback() },
      attempt("an unlayable type is refused") { try refusal() },
    ]
      + (SwiftRuntime.probes + [SwiftRuntime.search, SwiftRuntime.queues]).map { probe in
        attempt("Swift's runtime: \(probe.name)") { probe.passes() ? nil : "not as in Swift 6.3" }
      }
  }

  private static func attempt(_ name: String, _ body: () throws -> String?) -> Outcome {
    do {
      let problem = try body()
      return Outcome(name: name, isPassed: problem == nil, detail: problem ?? "")
    } catch {
      return Outcome(name: name, isPassed: false, detail: "\(error)")
    }
  }

  // MARK: Samples through both engines

  private struct Sample {
    /// The name of a function of libm or libc, whose C declaration is the encoding.
    var function: String
    var encoding: String
    /// The declared arguments, as on the command line, and the expected result as JSON.
    var arguments: [String]
    var expected: String
  }

  private static func samples() -> [Sample] {
    [
      Sample(function: "pow", encoding: "ddd", arguments: ["2", "10"], expected: "1024"),
      Sample(function: "div", encoding: "{D=ii}ii", arguments: ["-7", "2"], expected: "[-3,-1]"),
      Sample(function: "sqrtl", encoding: "DD", arguments: ["4"], expected: "2"),
      Sample(function: "conj", encoding: "jdjd", arguments: ["[1.5,-2]"], expected: "[1.5,2]"),
    ]
  }

  private static func both(_ sample: Sample) throws -> String? {
    let signature = try MethodSignature(parsing: sample.encoding)
    let call = try Invocation(signature)
    try call.setArguments(json: "[\(sample.arguments.joined(separator: ","))]")
    func wrong(_ engine: String) throws -> String? {
      let result = try call.resultJSON
      return result == sample.expected
        ? nil : "\(engine) gave \(result) instead of \(sample.expected)"
    }
    // SAFETY: the encoding is the declaration of the function.
    let function = unsafe try Library("libm.so.6").address(of: sample.function)
    unsafe try call.invoke(using: function)
    if let problem = try wrong("the engine") { return problem }
    return unsafe call.invokeThroughLibffi(using: function) ? try wrong("libffi") : nil
  }

  // MARK: Other checks

  private static func variadic() throws -> String? {
    let functions = FunctionTable()
    unsafe try functions.register(
      "snprintf", encoding: "i^vQ*if", unsafeSymbolIn: Library(""), fixedArgumentCount: 3)
    var buffer = [UInt8](repeating: 0, count: 64)
    let written = unsafe try buffer.withUnsafeMutableBytes { bytes in
      unsafe try functions.call(
        "snprintf", bytes.baseAddress, UInt64(bytes.count), "%d %.2f", Int32(42), Float(2.5),
        returning: Int32.self)
    }
    let text = String(decoding: buffer.prefix(max(0, Int(written))), as: UTF8.self)
    return text == "42 2.50" ? nil : "it wrote '\(text)'"
  }

  private static func errnoIsCaptured() throws -> String? {
    let functions = FunctionTable()
    unsafe try functions.register("close", encoding: "ii", unsafeSymbolIn: Library(""))
    let (result, code) = try functions.callCapturingErrno(
      "close", Int32(-1), returning: Int32.self)
    return result == -1 && code == EBADF ? nil : "result \(result), errno \(code)"
  }

  private static func callback() throws -> String? {
    let compare = unsafe try Callback {
      (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
      unsafe a.pointee < b.pointee ? -1 : a.pointee > b.pointee ? 1 : 0
    }
    typealias Comparator = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
    var numbers: [Int32] = [5, -1, 3, 2]
    let function = unsafe try compare.function(as: Comparator.self)
    unsafe qsort(&numbers, numbers.count, MemoryLayout<Int32>.stride, function)
    withExtendedLifetime(compare) {}
    return numbers == [-1, 2, 3, 5] ? nil : "it sorted to \(numbers)"
  }

  private static func refusal() throws -> String? {
    do {
      _ = try CallPlan.shared(for: MethodSignature(parsing: "v@:{opaque}"))
      return "it was accepted"
    } catch {
      return nil
    }
  }
}
