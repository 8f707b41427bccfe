// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

extension CallPlan {
  /// Why values of a structure's type do not fit a place.
  enum Misfit {
    /// The place has another encoding.
    case otherEncoding
    /// Values of the type are more than their bytes: they are retained, for example.
    case moreThanBytes
    case size(own: Int, there: Int)
    case alignment(own: Int, there: Int)
  }

  /// Compares a structure's type with a place; nil if it fits.
  static func misfit<Value: CallStructure>(_ type: Value.Type, _ place: TypeEncoding) -> Misfit? {
    guard let own = try? TypeEncoding(parsing: Value.structure.encoding),
      let layout = try? place.layout,
      // A registered layout has the same members at other offsets, so the size and the alignment
      // decide.
      own.identity == place.identity || own.canonicalSpelling == place.canonicalSpelling
    else { return .otherEncoding }
    if !_isPOD(type) { return .moreThanBytes }
    let size = max(layout.size, 1)
    if MemoryLayout<Value>.stride != size {
      return .size(own: MemoryLayout<Value>.stride, there: size)
    }
    if MemoryLayout<Value>.alignment != layout.alignment {
      return .alignment(own: MemoryLayout<Value>.alignment, there: layout.alignment)
    }
    return nil
  }

  /// The error for a call of this plan to an implementation that is registered with another plan.
  func mismatch(
    _ name: String, _ expected: MethodSignature, of other: CallPlan
  ) -> InvocationError {
    // Swift types are spelled as addresses, so equal encodings may stand for different types.
    if expected.description == signature.description, argumentCount == other.argumentCount {
      for place in 0...argumentCount {
        let (known, given) = (other.swiftType(ofPlace: place), swiftType(ofPlace: place))
        guard known != given else { continue }
        return .swiftTypeMismatch(
          name: name, index: place > 0 ? place - 1 : nil, expected: known, given: given)
      }
    }
    return .signatureMismatch(name: name, expected: expected, given: signature)
  }
}

extension CallValue {
  /// The structure whose bytes are stored; nil for values that are not stored as a structure.
  static var storedStructure: (any CallStructure.Type)? { unsafe Self._callFacts(0).structure }
}
