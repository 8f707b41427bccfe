// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Foundation
import ForwardingTestSupport
import Invocations
import TypeEncodings

/// Writes random signatures as C: functions to call, and the descriptions of their values for the C
/// core.
///
///     CallMatrix <folder> <count> <seed> [aarch64-linux]
///
/// Each part is two files. `part_N.c` has the functions, for any compiler, and the bits of each
/// value that carry it. `cases_N.c` has the tables, for the compiler of the core.
/// `Tests/Core/Matrix/matrix.c` makes the calls.
@main
struct CallMatrix {
  static let partSize = 100

  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst().map(\.self)
    guard arguments.count >= 3, let count = Int(arguments[1]), let seed = UInt64(arguments[2])
    else {
      print("usage: CallMatrix <folder> <count> <seed> [aarch64-linux]")
      exit(2)
    }
    let machine = Machine(rawValue: arguments.dropFirst(3).first ?? "") ?? .own
    var refused = 0
    for part in 0..<(count + partSize - 1) / partSize {
      let seed = seed &+ UInt64(part)
      let matrix = try SignatureMatrix(
        count: min(partSize, count - part * partSize), seed: seed, style: style(of: part),
        options: machine == .aarch64Linux ? ["-funsigned-char"] : [])
      let folder = URL(fileURLWithPath: arguments[0])
      let (tables, left) = try tables(of: matrix, machine)
      refused += left
      try (matrix.source + claims(matrix)).write(
        to: folder.appendingPathComponent("part_\(part).c"), atomically: true, encoding: .utf8)
      try tables.write(
        to: folder.appendingPathComponent("cases_\(part).c"), atomically: true, encoding: .utf8)
    }
    print("\(count) signatures; \(refused) of them refused, as compilers disagree")
    // With more refused signatures, too little would be compared. On AArch64 more than half of the
    // structures of odd shapes are refused.
    let most = machine == .aarch64Linux ? 25 : 15
    if refused > max(count * most / 100, partSize) {
      print("at most \(most) of 100 may be refused")
      exit(1)
    }
  }

  private static func style(of part: Int) -> SignatureMatrix.Style {
    switch part % 8 {
    case 3: .ordinary
    case 5: .shaped
    case 2, 6: .variadic
    default: .composites
    }
  }

  /// Assertions that the other machine lays out all types as this one does.
  private static func claims(_ matrix: SignatureMatrix) -> String {
    var text = ""
    for (signature, layouts) in zip(matrix.signatures, matrix.layouts) {
      for (type, layout) in zip([signature.result] + signature.arguments, layouts) {
        guard let name = type?.spelling else { continue }
        text += "_Static_assert(sizeof(\(name)) == \(layout.size)"
        text += " && _Alignof(\(name)) == \(layout.alignment), \"layout\");\n"
      }
    }
    return text
  }

  private static func tables(
    of matrix: SignatureMatrix, _ machine: Machine
  ) throws -> (text: String, refused: Int) {
    var text = "#include \"matrix.h\"\n"
    var rows = ""
    var refused = 0
    for (index, signature) in matrix.signatures.enumerated() {
      let encoding = matrix.encodings[index]
      let parsed = try MethodSignature(
        utf8: Array(encoding.utf8), layouts: matrix.registered, for: machine)
      let values: [FWDValue]
      do {
        values =
          try [FWDValue(parsed.resultType, isArgument: false)]
          + parsed.argumentTypes.map { try FWDValue($0, isArgument: true) }
      } catch let error as TypeEncodingError {
        guard error.reason == .compilersDisagree else { throw error }
        refused += 1
        continue
      }
      let count = signature.arguments.count
      text += "void f_\(index)(void), drive_\(index)(const void *), "
      text += "mask_\(index)(int, unsigned char *);\n"
      text += "static const FWDValue values_\(index)[] = {"
      text += values.map(\.initializer).joined(separator: ", ") + "};\n"
      rows += "{\(index), \"\(encoding.replacing("\"", with: "\\\""))\", values_\(index), "
      rows += "\(count), \(signature.fixedCount ?? count), f_\(index), "
      rows += "drive_\(index), mask_\(index)},\n"
    }
    text += "const CallCase call_cases[] = {\n\(rows){.index = -1}};\n"
    return (text + "const uint64_t call_seed = \(matrix.seed);\n", refused)
  }
}

extension FWDValue {
  fileprivate var initializer: String {
    let fields = [
      size, alignment, UInt32(kind.rawValue), UInt32(first.rawValue), UInt32(second.rawValue),
      UInt32(component.rawValue), UInt32(component_count),
    ]
    return "{\(fields.map(String.init).joined(separator: ", "))}"
  }
}
