// SPDX-License-Identifier: Apache-2.0
import Foundation
import InvocationText
import Invocations
import TypeEncodings

/// `forward call`: calls any C function, with the type that its encoding describes.
enum CallCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.count >= 3 else {
      throw options.fault("a library, a symbol and an encoding are expected")
    }
    let (path, symbol) = (options.positional[0], options.positional[1])
    let given = Array(options.positional.dropFirst(3))
    let signature: MethodSignature
    let plan: CallPlan
    do {
      signature = try MethodSignature(parsing: options.positional[2])
      plan = try CallPlan(signature, fixedArgumentCount: try fixedCount(options))
    } catch let error as UsageError {
      throw error
    } catch {
      Terminal.error("\(Self.cause(error))")
      return .badData
    }
    guard given.count == signature.numberOfArguments else {
      let error = InvocationError.argumentCount(
        expected: signature.numberOfArguments, given: given.count)
      throw options.fault("\(signature): \(error)")
    }
    return try call(plan, path, symbol, given, options)
  }

  private static func fixedCount(_ options: Options) throws(UsageError) -> Int? {
    guard let text = options.values["--fixed"]?.last else { return nil }
    guard let count = Int(text) else {
      throw options.fault("--fixed needs a number, not '\(text)'")
    }
    return count
  }

  private static func call(
    _ plan: CallPlan, _ path: String, _ symbol: String, _ given: [String], _ options: Options
  ) throws -> ExitCode {
    let invocation = Invocation(plan)
    do {
      let values = try zip(given, plan.signature.argumentTypes).map(ValueCoder.value)
      try invocation.setArguments(values, from: 0, ValueCoder(reach: .anywhere), "")
    } catch let error as InvocationTextError {
      Terminal.error("forward: \(error.reason)")
      return .badData
    } catch {
      Terminal.error("forward: \(error)")
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
    let type = invocation.methodSignature.resultType
    // The user wrote the encoding, so `*` in it is text.
    let result = try invocation.resultJSONValue { _ in true }
    if options.isJSON {
      let arguments = try invocation.argumentValues(from: 0) { _ in true }
      let object: JSONValue = .object([
        ("result", result), ("errno", .integer(code)), ("arguments", .array(arguments)),
      ])
      Terminal.out("\(object)")
    } else if !type.isNothing {
      if case .string(let text) = result.kind {
        Terminal.out(text)
      } else {
        Terminal.out("\(result)")
      }
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

extension TypeEncoding {
  fileprivate var isNothing: Bool {
    if case .void = kind { return true }
    return false
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
