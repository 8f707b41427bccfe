// SPDX-License-Identifier: Apache-2.0
import Foundation
import InvocationText
import Invocations
import TypeEncodings

/// `forward explain`: describes a signature or a type, as a table or as JSON.
enum ExplainCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.count == 1 else {
      let given = options.positional.isEmpty ? "none is" : "\(options.positional.count) are"
      throw options.fault("explain needs one encoding in quotes, as \"v@:i\", but \(given) given")
    }
    let isType = options.flags.contains("--type")
    let explainer = Explainer(
      isType: isType, isJSON: options.isJSON, machine: try machine(options))
    let given = options.positional[0]
    if given != "-" { return explainer.explain(Array(given.utf8)) ? .ok : .badData }
    var allGood = true
    let code = Terminal.readLines { allGood = explainer.explain($0) && allGood }
    if code != 0 {
      let reason = unsafe String(cString: strerror(code))
      throw Failure(message: "the input cannot be read: \(reason)")
    }
    return allGood ? .ok : .badData
  }

  /// The machine of the last `--target MACHINE`; without the option, this machine.
  private static func machine(_ options: Options) throws(UsageError) -> Machine {
    guard let name = options.values["--target"]?.last else { return .own }
    if let machine = Machine(rawValue: name) { return machine }
    let known = Machine.allCases.map(\.rawValue).joined(separator: ", ")
    throw options.fault("'\(name)' is not a known target; choose one of \(known)")
  }
}

/// Describes one encoding as a table or as JSON.
struct Explainer {
  let isType: Bool
  let isJSON: Bool
  let machine: Machine

  /// Explains one encoding. Returns false for an invalid one, after printing the error.
  func explain(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    do {
      if isType {
        let type = try TypeEncoding(utf8: bytes, layouts: StructureLayouts(), for: machine)
        Terminal.out(isJSON ? "\(try typeObject(type, text))" : try typeTable(type))
      } else {
        let signature = try MethodSignature(utf8: bytes, layouts: StructureLayouts(), for: machine)
        return explain(signature, text)
      }
      return true
    } catch {
      if isJSON {
        let object: JSONValue = .object([("encoding", .string(text)), ("error", details(error))])
        Terminal.out("\(object)")
      } else {
        Terminal.error("\(error)")
      }
      return false
    }
  }

  /// Explains a signature. A signature that cannot be called is described too, with the reason.
  private func explain(_ signature: MethodSignature, _ text: String) -> Bool {
    let call = ExplainedCall(signature)
    if isJSON {
      Terminal.out("\(signatureObject(call, text))")
    } else {
      Terminal.out(signatureTable(call))
      if let cause = call.cause { Terminal.error("\(cause)") }
    }
    return call.cause == nil
  }

  static func number(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }

  func details(_ error: any Error) -> JSONValue {
    let encodingError = error as? TypeEncodingError
    return .object([
      ("reason", .string(encodingError.map { "\($0.reason)" } ?? "\(error)")),
      ("offset", .integer(encodingError?.offset ?? 0)),
    ])
  }
}
