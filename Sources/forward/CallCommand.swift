// SPDX-License-Identifier: Apache-2.0
import Foundation
import InvocationText
import Invocations
import TypeEncodings

/// `forward call`: calls any C function, with the type that its encoding describes.
enum CallCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.count >= 3 else {
      throw options.fault(
        "call needs a library, a function and its encoding: forward call libm.so.6 pow ddd 2 10")
    }
    let (path, symbol) = (options.positional[0], options.positional[1])
    let given = Array(options.positional.dropFirst(3))
    let signature: MethodSignature
    let plan: CallPlan
    do {
      signature = try MethodSignature(parsing: options.positional[2])
      plan = try CallPlan.shared(
        for: signature, fixedArgumentCount: try fixedCount(options, of: signature))
    } catch let error as UsageError {
      throw error
    } catch {
      Terminal.error("\(Self.cause(error))")
      return .badData
    }
    let count = signature.numberOfArguments
    guard given.count == count else {
      let wanted = "'\(symbol)' takes \(count) argument\(count == 1 ? "" : "s")"
      throw options.fault("\(wanted) by its encoding \(signature), but \(given.count) were given")
    }
    return try call(plan, path, symbol, given, options)
  }

  private static func fixedCount(
    _ options: Options, of signature: MethodSignature
  ) throws(UsageError) -> Int? {
    guard let text = options.values["--fixed"]?.last else { return nil }
    let most = signature.numberOfArguments
    guard let count = Int(text), 0...most ~= count else {
      throw options.fault("--fixed is a number from 0 to \(most) for \(signature), not '\(text)'")
    }
    return count
  }

  private static func call(
    _ plan: CallPlan, _ path: String, _ symbol: String, _ given: [String], _ options: Options
  ) throws -> ExitCode {
    let invocation = Invocation(plan)
    do {
      let values = zip(given, plan.signature.argumentTypes).map(ValueCoder.value)
      try invocation.setArguments(values, from: 0, ValueCoder(reach: .anywhere), "")
    } catch {
      Terminal.error("forward: \(error.reason)")
      return .badData
    }
    let library: Library
    let function: UnsafeRawPointer
    do {
      library = try Library(path)
      unsafe function = try library.address(of: symbol)
    } catch {
      Terminal.error("forward: \(error)")
      // The loader looks for a bare name only in its own folders, not in the current one.
      if !path.contains("/"), unsafe access(path, F_OK) == 0 {
        Terminal.error("forward: for the file in this folder, write './\(path)'")
      }
      return .failed
    }
    CrashReport.install()
    // SAFETY: the user vouched for the function's type by writing its encoding.
    let code = unsafe try invocation.invokeCapturingErrno(using: function)
    // The output of the function appears before the output of the tool.
    fflush(nil)
    try show(invocation, code, options)
    withExtendedLifetime(library) {}
    return .ok
  }

  private static func show(
    _ invocation: Invocation, _ code: Int32, _ options: Options
  ) throws {
    // The user wrote the encoding, so `*` in it is text.
    let result = try invocation.resultJSONValue { _ in true }
    if options.isJSON {
      let arguments = try invocation.argumentValues(from: 0) { _ in true }
      let object: JSONValue = .object([
        ("result", result), ("errno", .integer(code)), ("arguments", .array(arguments)),
      ])
      Terminal.out("\(object)")
    } else if case .string(let text) = result.kind {
      Terminal.out(text)
    } else if invocation.methodSignature.resultType.kind != .void {
      Terminal.out("\(result)")
    }
    if options.flags.contains("--errno") {
      Terminal.error(
        "errno \(code)" + (code == 0 ? "" : " (\(unsafe String(cString: strerror(code))))"))
    }
  }

  /// Unwraps the error of the encoding itself, which shows the place of the fault.
  private static func cause(_ error: any Error) -> any Error {
    if case InvocationError.encoding(let inner) = error { return inner }
    return error
  }
}

/// Reports a crash of the called function, which the shell alone would not explain.
private enum CrashReport {
  static func install() {
    for number in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT] {
      // A signal handler may call only async-signal-safe functions: write and _exit.
      _ = signal(number) { number in
        let text: StaticString =
          "forward: the function crashed; does its C type match the encoding?\n"
        _ = unsafe write(2, text.utf8Start, text.utf8CodeUnitCount)
        _exit(ExitCode.failed.rawValue)
      }
    }
  }
}
