import Forwarding
import InvocationText

/// `forward explain`: a signature or a type, in a table or as JSON.
enum ExplainCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.count == 1 else {
      throw options.fault("one encoding is expected, \(options.positional.count) were given")
    }
    let layouts = try self.layouts(options)
    let explainer = Explainer(
      isType: options.flags.contains("--type"), isJSON: options.isJSON, layouts: layouts)
    let given = options.positional[0]
    if given != "-" { return explainer.explain(Array(given.utf8)) ? .ok : .badData }
    var allGood = true
    Terminal.readLines { allGood = explainer.explain($0) && allGood }
    return allGood ? .ok : .badData
  }

  /// `--layout NAME=SIZE,ALIGNMENT[,OFFSET…]`, any number of them.
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

private struct Explainer {
  let isType: Bool
  let isJSON: Bool
  let layouts: StructureLayouts

  /// Explains one encoding; false if it is bad, after saying so.
  func explain(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    do {
      if isType {
        let type = try TypeEncoding(parsingUTF8: bytes, layouts: layouts)
        Terminal.out(isJSON ? "\(try typeObject(type, text))" : try typeTable(type))
      } else {
        return explain(try MethodSignature(parsingUTF8: bytes, layouts: layouts), text)
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

  /// Explains a signature. One that cannot be called is described all the same, with the reason.
  private func explain(_ signature: MethodSignature, _ text: String) -> Bool {
    var plan: CallPlan?
    var cause: (any Error)?
    do throws(InvocationError) {
      plan = try CallPlan(signature)
    } catch {
      if case .encoding(let inner) = error { cause = inner } else { cause = error }
    }
    if isJSON {
      Terminal.out("\(signatureObject(signature, plan, cause, text))")
    } else {
      Terminal.out(signatureTable(signature, plan))
      if let cause { Terminal.error("\(cause)") }
    }
    return plan != nil
  }

  private func details(_ error: any Error) -> JSONValue {
    let encodingError = error as? TypeEncodingError
    return .object([
      ("reason", .string(encodingError.map { "\($0.reason)" } ?? "\(error)")),
      ("offset", .integer(encodingError?.offset ?? 0)),
    ])
  }

  // MARK: One type

  private func typeObject(_ type: TypeEncoding, _ text: String) throws -> JSONValue {
    let layout = try type.layout
    var object: [(String, JSONValue)] = [
      ("encoding", .string(text)), ("size", .integer(layout.size)),
      ("alignment", .integer(layout.alignment)), ("kind", .string(type.kindName)),
      ("canonical", .string(type.canonicalSpelling)),
    ]
    if let members = type.members {
      object.append(("fields", .array(try members.map { try field($0) })))
    }
    object.append(("leaves", .array(try type.leaves().map { .string("\($0)") })))
    return .object(object)
  }

  private func field(_ member: TypeEncoding.Member) throws -> JSONValue {
    var object: [(String, JSONValue)] = [
      ("name", member.name.map { .string($0) } ?? .null),
      ("encoding", .string("\(member.type)")),
      ("offset", member.offset.map { .integer($0) } ?? .null),
    ]
    if case .bitField(let width, _, _) = member.type.kind {
      object.append(("bitOffset", member.bitOffset.map { .integer($0) } ?? .null))
      object.append(("bits", .integer(width)))
    } else {
      let layout = try? member.type.layout
      object.append(("size", layout.map { .integer($0.size) } ?? .null))
      object.append(("alignment", layout.map { .integer($0.alignment) } ?? .null))
    }
    return .object(object)
  }

  private func typeTable(_ type: TypeEncoding) throws -> String {
    let layout = try type.layout
    let head =
      Terminal.styled("\(type)", .bold)
      + "  \(type.kindName), \(layout.size) bytes, aligned to \(layout.alignment)"
    guard let members = type.members, !members.isEmpty else { return head }
    var rows = [["offset", "size", "align", "type", ""]]
    for member in members {
      let offset: String
      let size: String
      if case .bitField(let width, _, _) = member.type.kind {
        offset = member.bitOffset.map { "bit \($0)" } ?? "?"
        size = "\(width) bits"
      } else {
        offset = member.offset.map { "\($0)" } ?? "?"
        size = (try? member.type.layout).map { "\($0.size)" } ?? "?"
      }
      let alignment = (try? member.type.layout).map { "\($0.alignment)" } ?? ""
      rows.append([offset, size, alignment, "\(member.type)", member.name ?? ""])
    }
    return head + "\n" + Terminal.table(rows, right: [0, 1, 2], indent: "  ")
  }

  // MARK: A signature

  private func signatureObject(
    _ signature: MethodSignature, _ plan: CallPlan?, _ cause: (any Error)?, _ text: String
  ) -> JSONValue {
    let arguments = signature.argumentTypes.enumerated().map { index, type in
      placeObject(
        type, try? plan?.location(ofArgument: index),
        advice: (try? signature.advisoryOffset(at: index)) ?? nil, index: index)
    }
    var object: [(String, JSONValue)] = [
      ("encoding", .string(text)), ("shape", .string("\(signature.shape)")),
      ("engine", plan.map { .string($0.performer.rawValue) } ?? .null),
      ("frame", plan.map { .integer($0.frameLength) } ?? .null),
      ("frameLength", (try? signature.frameLength).map { .integer($0) } ?? .null),
      ("oneway", .bool(signature.isOneway)),
      (
        "result",
        placeObject(
          signature.resultType, plan?.resultLocation, advice: signature.advisoryFrameLength)
      ),
      ("arguments", .array(arguments)),
    ]
    if let cause { object.append(("error", details(cause))) }
    return .object(object)
  }

  private func placeObject(
    _ type: TypeEncoding, _ location: CallPlan.Location?, advice: Int?, index: Int? = nil
  ) -> JSONValue {
    let layout = try? type.layout
    var object: [(String, JSONValue)] = index.map { [("index", .integer($0))] } ?? []
    object += [
      ("encoding", .string("\(type)")), ("size", layout.map { .integer($0.size) } ?? .null),
      ("alignment", layout.map { .integer($0.alignment) } ?? .null),
      ("offset", location.map { .integer($0.frameOffset) } ?? .null),
      ("location", location.map { .string($0.text) } ?? .null),
      ("written", advice.map { .integer($0) } ?? .null),
    ]
    return .object(object)
  }

  private func signatureTable(_ signature: MethodSignature, _ plan: CallPlan?) -> String {
    let count = signature.numberOfArguments
    let engine =
      plan.map { "\($0.performer) engine, frame of \($0.frameLength) bytes" }
      ?? "cannot be called"
    let head =
      Terminal.styled("\(signature)", .bold)
      + "  \(signature.shape), \(count) argument\(count == 1 ? "" : "s"), \(engine)"
    var rows = [["", "type", "size", "align", "offset", "travels in"]]
    rows.append(row("result", signature.resultType, plan?.resultLocation))
    for (index, type) in signature.argumentTypes.enumerated() {
      let role =
        switch (signature.shape, index) {
        case (.method, 0): "\(index) receiver"
        case (.method, 1): "\(index) selector"
        case (.block, 0): "\(index) block"
        default: "\(index)"
        }
      rows.append(row(role, type, try? plan?.location(ofArgument: index)))
    }
    return head + "\n" + Terminal.table(rows, right: [2, 3, 4], indent: "  ")
  }

  private func row(
    _ role: String, _ type: TypeEncoding, _ location: CallPlan.Location?
  ) -> [String] {
    let layout = try? type.layout
    let isSomewhere = location.map { $0.text != "nowhere" } ?? false
    return [
      role, "\(type)", layout.map { "\($0.size)" } ?? "?", layout.map { "\($0.alignment)" } ?? "?",
      isSomewhere ? "\(location?.frameOffset ?? 0)" : "", location?.text ?? "?",
    ]
  }
}

extension TypeEncoding {
  /// One word for what the type is.
  fileprivate var kindName: String {
    switch kind {
    case .void: "void"
    case .scalar(let scalar): "\(scalar)"
    case .complex(let scalar): "complex \(scalar)"
    case .cString: "C string"
    case .atom: "atom"
    case .object: "object"
    case .block: "block"
    case .classReference: "class"
    case .selector: "selector"
    case .pointer: "pointer"
    case .unknown: "unknown"
    case .array: "array"
    case .structure: "structure"
    case .union: "union"
    case .bitField: "bit-field"
    case .vector: "vector"
    }
  }
}
