// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

/// Parses the encoding of a type; an invalid one ends the process of the test.
public func encodingOf(_ text: String) -> TypeEncoding {
  do { return try TypeEncoding(parsing: text) } catch { fatalError("\(error)") }
}

/// Parses a signature; an invalid one ends the process of the test.
public func signatureOf(_ text: String) -> MethodSignature {
  do { return try MethodSignature(parsing: text) } catch { fatalError("\(error)") }
}
