// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import FuzzTargets
import Testing
import TypeEncodings

@Suite("Layout agrees with the compilers' tables")
struct CompilerTableTests {
  @Test(
    "size, alignment and every leaf agree in every row of a machine, computed on any",
    arguments: [(.x86_64Linux, 396), (.aarch64Linux, 366)] as [(Machine, Int)])
  func encodings(machine: Machine, count: Int) throws {
    var exact = 0
    for row in try Table("encodings").rows where row["source"].contains(machine.rawValue) {
      let type = try TypeEncoding(utf8: Array(row["encoding"].utf8), for: machine)
      let layout = try type.layout
      #expect(
        "\(layout.size)/\(layout.alignment)" == "\(row["size"])/\(row["align"])",
        "\(row["encoding"])")
      let leaves = try type.leaves(on: machine).map(\.description).joined(separator: ",")
      #expect((leaves.isEmpty ? "-" : leaves) == row["flattened-kind"], "\(row["encoding"])")
      #expect(type.description == row["encoding"])
      exact += 1
    }
    #expect(exact == count)
  }

  @Test("the rows of other targets print back; on x86-64 the sizes of results agree")
  func others() throws {
    for row in try Table("encodings").rows where !row["source"].contains("x86_64-linux") {
      #expect(try TypeEncoding(parsing: row["encoding"]).description == row["encoding"])
    }
    for row in try Table("struct_return_x86_64").rows {
      let type = try TypeEncoding(utf8: Array(row["encoding"].utf8), for: .x86_64Linux)
      #expect(try "\(type.layout.size)" == row["size"], "\(type)")
    }
  }

  @Test("types, sizes and advisory digits agree in every row of method_types.tsv")
  func methodTypes() throws {
    var exact = 0
    for row in try Table("method_types").rows {
      // The layouts are those of x86-64; those of other machines are compared above.
      let signature = try MethodSignature(utf8: Array(row["types"].utf8), for: .x86_64Linux)
      let isHere = row["source"].contains("x86_64-linux")
      #expect("\(signature.numberOfArguments)" == row["argument-count"])
      #expect("\(signature.advice[0] ?? -1)" == row["frame-number"])
      #expect(
        Self.cell(signature.resultType, isHere)
          == Self.expected(row["return (encoding size/align)"], isHere))
      let cells = row["arguments (encoding size/align @advisory-offset; first two are self,_cmd)"]
        .components(separatedBy: " ; ")
      for (index, cell) in cells.enumerated() {
        let advice = signature.advice[index + 1] ?? -1
        let type = try signature.argumentType(at: index)
        #expect(
          Self.cell(type, isHere) + " @\(advice)" == Self.expected(cell, isHere),
          "\(row["types"])")
      }
      exact += 1
    }
    #expect(exact == 235)
  }

  /// `encoding size/align`, or only the encoding if the row is of another platform.
  private static func cell(_ type: TypeEncoding, _ withLayout: Bool) -> String {
    guard withLayout else { return "\(type)" }
    guard let layout = try? type.layout else { return "\(type) ?" }
    return "\(type) \(layout.size)/\(layout.alignment)"
  }

  private static func expected(_ cell: String, _ withLayout: Bool) -> String {
    if withLayout { return cell }
    // The second word is the layout on the row's own platform.
    var words = cell.split(separator: " ").map(String.init)
    let layout = words.lastIndex { $0.contains("/") || $0 == "?" }
    if let layout, layout > 0 { words.remove(at: layout) }
    return words.joined(separator: " ")
  }
}
