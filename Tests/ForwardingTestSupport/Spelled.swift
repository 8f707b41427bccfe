import TypeEncodings

/// A type that a test spells; what is no encoding ends the test's process.
public func encodingOf(_ text: String) -> TypeEncoding {
  do { return try TypeEncoding(parsing: text) } catch { fatalError("\(error)") }
}

/// A signature, likewise.
public func signatureOf(_ text: String) -> MethodSignature {
  do { return try MethodSignature(parsing: text) } catch { fatalError("\(error)") }
}
