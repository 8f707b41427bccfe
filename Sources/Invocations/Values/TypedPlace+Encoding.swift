// SPDX-License-Identifier: Apache-2.0
extension TypedPlace {
  /// The encoding that is spelled for the type.
  var encoding: String {
    switch way {
    // A class may declare another encoding, which is refused.
    case .object: (type.type as? any CallObject.Type)?.typeEncoding ?? "@"
    case .nothing: "v"
    case .address: "^{\(Self.name(type.type))}"
    case .text: "*"
    case .converted(let type): type.typeEncoding
    case .word: (type.type as? any CallValue.Type)?.typeEncoding ?? "?"
    }
  }

  /// The name of a type as the name of a structure: letters, digits and dots. Long names are cut,
  /// so that a whole call fits one encoding. Plans distinguish types of one name.
  private static func name(_ type: Any.Type) -> String {
    // `String(reflecting:)` makes the same text, through a search for conformances and a mirror.
    var rest = _typeName(type)[...]
    var (name, count) = ("", 0)
    while count < 200, let next = rest.first {
      // The name of a private type contains an address, which is removed.
      if next == "(", rest.hasPrefix("(unknown context at "), let end = rest.firstRange(of: ").") {
        rest = rest[end.upperBound...]
        continue
      }
      name.append(next.isASCII && (next.isLetter || next.isNumber || next == ".") ? next : "_")
      count += 1
      rest.removeFirst()
    }
    return name
  }
}
