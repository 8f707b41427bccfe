// SPDX-License-Identifier: Apache-2.0
import Forwarding
import InvocationText

/// `forward explain`: describes a signature or a type, as a table or as JSON.
enum ExplainCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.count == 1 else {
      throw options.fault("one encoding is expected, \(options.positional.count) were given")
    }
    let layouts = try self.layouts(options)
    let isType = options.flags.contains("--type")
    let explainer = Explainer(
      isType: isType, isJSON: options.isJSON, layouts: layouts,
      target: try target(options, among: isType ? Machine.allCases : CallPlaces.machines))
    let given = options.positional[0]
    if given != "-" { return explainer.explain(Array(given.utf8)) ? .ok : .badData }
    var allGood = true
    do throws(Terminal.Unreadable) {
      try Terminal.readLines { allGood = explainer.explain($0) && allGood }
    } catch {
      Terminal.error("forward: \(error)")
      return .failed
    }
    return allGood ? .ok : .badData
  }

  /// The machine of the last `--target MACHINE`; nil without the option.
  private static func target(
    _ options: Options, among known: [Machine]
  ) throws(UsageError) -> Machine? {
    guard let name = options.values["--target"]?.last else { return nil }
    do throws(UnknownMachine) {
      return try Machine(named: name, among: known)
    } catch {
      throw options.fault("\(error)")
    }
  }

  /// Parses `--layout NAME=SIZE,ALIGNMENT[,OFFSET…]`, which may be repeated.
  private static func layouts(_ options: Options) throws(UsageError) -> StructureLayouts {
    var layouts = StructureLayouts()
    for item in options.values["--layout"] ?? [] {
      let parts = item.split(separator: "=", maxSplits: 1)
      let numbers = parts.count == 2 ? parts[1].split(separator: ",").map { Int($0) } : []
      guard numbers.count >= 2, !numbers.contains(nil) else {
        throw options.fault("--layout is NAME=SIZE,ALIGNMENT[,OFFSET…], not '\(item)'")
      }
      let known = numbers.compactMap(\.self)
      let name = String(parts[0])
      layouts[name] = .init(
        size: known[0], alignment: known[1],
        fieldOffsets: known.count > 2 ? Array(known[2...]) : nil)
      if layouts[name] == nil { throw options.fault("no compiler makes the layout '\(item)'") }
    }
    return layouts
  }
}

/// Describes one encoding as a table or as JSON.
struct Explainer {
  let isType: Bool
  let isJSON: Bool
  let layouts: StructureLayouts
  /// The machine of `--target`; nil for this machine.
  let target: Machine?

  private var machine: Machine { target ?? .own }

  /// Explains one encoding. Returns false for an invalid one, after printing the error.
  func explain(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    do {
      if isType {
        let type = try TypeEncoding(utf8: bytes, layouts: layouts, for: machine)
        Terminal.out(isJSON ? "\(try typeObject(type, text))" : try typeTable(type))
      } else {
        let signature = try MethodSignature(utf8: bytes, layouts: layouts, for: machine)
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
    let call = ExplainedCall(signature, for: target)
    if isJSON {
      Terminal.out("\(signatureObject(call, text))")
    } else {
      Terminal.out(signatureTable(call))
      if let cause = call.cause { Terminal.error("\(cause)") }
    }
    return call.cause == nil
  }

  func details(_ error: any Error) -> JSONValue {
    let encodingError = error as? TypeEncodingError
    return .object([
      ("reason", .string(encodingError.map { "\($0.reason)" } ?? "\(error)")),
      ("offset", .integer(encodingError?.offset ?? 0)),
    ])
  }
}
