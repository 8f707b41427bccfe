// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Encodes and decodes values of `Codable` types as JSON, with sorted keys so that the spelling is
/// unique.
enum ValueJSON {
  /// The JSON of a value, which must not nest too deeply.
  static func text<Value: Encodable>(
    of value: Value, _ limits: WireLimits, at offset: Int
  ) throws -> [UInt8] {
    try ValueDepth.check(value, limits, at: offset)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let bytes = [UInt8](try encoder.encode(value))
    guard depth(of: bytes) <= limits.depth else {
      throw WireError(.nestedTooDeeply(limit: limits.depth), at: offset)
    }
    return bytes
  }

  /// Decodes JSON of another process.
  static func value<Value: Decodable>(
    _ type: Value.Type, of json: [UInt8], _ limits: WireLimits, at offset: Int
  ) throws -> Value {
    try check(json, limits, at: offset)
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(type, from: Data(json))
  }

  /// Whether bytes are JSON. They must have been checked for their depth.
  static func isJSON(_ bytes: [UInt8]) -> Bool {
    (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
  }

  /// Checks that bytes can be decoded as JSON: they must be UTF-8, and lists must not nest too
  /// deeply. The decoder itself detects other encodings by NUL bytes and a byte order mark, and the
  /// depth is not counted correctly in those.
  static func check(
    _ bytes: [UInt8], _ limits: WireLimits, at offset: Int
  ) throws(WireError) {
    guard !bytes.contains(0), !bytes.starts(with: [0xEF, 0xBB, 0xBF]),
      String(validating: bytes, as: UTF8.self) != nil
    else { throw WireError(.notText, at: offset) }
    guard depth(of: bytes) <= limits.depth else {
      throw WireError(.nestedTooDeeply(limit: limits.depth), at: offset)
    }
  }

  /// How deeply lists and objects nest in a text, whether it is JSON or not.
  static func depth(of json: [UInt8]) -> Int {
    var (depth, deepest) = (0, 0)
    var isText = false
    var isEscaped = false
    for byte in json {
      if isEscaped {
        isEscaped = false
      } else if isText {
        if byte == UInt8(ascii: "\\") { isEscaped = true }
        if byte == UInt8(ascii: "\"") { isText = false }
      } else {
        switch byte {
        case UInt8(ascii: "\""): isText = true
        case UInt8(ascii: "["), UInt8(ascii: "{"):
          depth += 1
          deepest = max(deepest, depth)
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        default: break
        }
      }
    }
    return deepest
  }

  /// The message of a coder's error, in one line.
  static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
      DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
    case EncodingError.invalidValue(_, let context): return context.debugDescription
    default: return "\(error)"
    }
  }
}
