// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  // The face of a protocol that is refused. It has all members, so that the compiler says nothing but what the macro
  // says: no class lacks a requirement, and no name is missing.
  extension Face {
    /// The same with stubs.
    ///
    /// - Parameter bases: stubs for the inherited protocols of the system; nil if one of them has no stubs.
    func stubbed(with bases: [FaceMember]?) -> Face {
      var face = self
      face.isStub = true
      face.isPossible = isPossible && bases != nil
      face.parts = (parts + (bases ?? []).map { .member($0) }).map { $0.stubbed(in: self) }
      return face
    }
  }

  extension FacePart {
    fileprivate func stubbed(in face: Face) -> FacePart {
      switch self {
      case .member(let member): .member(member.stubbed(in: face))
      case .conditional(let clauses):
        .conditional(
          clauses.map { clause in (clause.head, clause.parts.map { $0.stubbed(in: face) }) })
      }
    }
  }

  extension FaceMember {
    /// A member that is nothing but a declaration, given without its body.
    static func stub(_ declaration: String, isOptional: Bool = false) -> FaceMember {
      var member = FaceMember(member: { _ in "" }, boxed: { _ in "" })
      member.stub = "\(declaration) { \(Spelling.never) }"
      member.isOptional = isOptional
      return member
    }

    fileprivate func stubbed(in face: Face) -> FaceMember {
      var member = self
      let (text, isType) = (stub, isType)
      // In a class `Self` is its name; in an extension it is any type of the protocol.
      member.member = { place in
        place == "0" ? text.namingSelf(face.type) : isType ? "" : text
      }
      member.boxed = { value in
        value == "__value" ? text.namingSelf("__Box") : isType ? "" : text
      }
      member.defaults = isOptional ? [text] : []
      member.answers = []
      member.messages = messages.map { message in
        var message = message
        message.types = message.types.flatMap { types in
          types.contains("~")
            ? nil
            : types.namingSelf("(\(face.target))").replacing(/\bsending\s+/, with: "")
              .replacing(/\bsome\b/, with: "any")
        }
        return message
      }
      return member
    }
  }

  extension String {
    /// The text with a type in place of `Self`, but for `Self.Item`.
    fileprivate func namingSelf(_ type: String) -> String {
      replacing(/\bSelf\b(?!\.)/, with: type)
    }
  }
#endif
