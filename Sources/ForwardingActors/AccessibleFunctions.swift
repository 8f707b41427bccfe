// The questions to the runtime that have no words in Swift, and the one file with memory of this module.

/// Finds a function that the compiler made to be called by its name, as distributed methods are.
///
/// Only looks for the very name in the tables of this process: nothing of it is read as the name of a type.
@_silgen_name("swift_findAccessibleFunction")
@unsafe
private func accessibleFunction(
  _ name: UnsafePointer<UInt8>, _ count: Int
) -> UnsafeRawPointer?

/// What types a distributed method of a name is made for; nothing, if it is for one type alone.
@_silgen_name("swift_distributed_getGenericEnvironment")
@unsafe
private func genericEnvironment(
  _ name: UnsafePointer<UInt8>, _ count: UInt
) -> UnsafeRawPointer?

enum AccessibleFunctions {
  /// Whether this process has a function of a name, which may come from anywhere.
  static func contains(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { bytes in
      guard let first = bytes.baseAddress else { return false }
      // SAFETY: the bytes are there until the call returns, and what it returns is not followed.
      return unsafe accessibleFunction(first, bytes.count) != nil
    }
  }

  /// Whether a method of a name, which may come from anywhere, is one for all actors that conform to a protocol: the
  /// runtime then refuses to perform it with any other.
  static func isOfProtocol(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { bytes in
      guard let first = bytes.baseAddress else { return false }
      // SAFETY: the bytes are there until the call returns, and what it returns is not followed.
      return unsafe genericEnvironment(first, UInt(bytes.count)) != nil
    }
  }
}
