// The one question to the runtime that has no words in Swift, and the one file with memory of this module.

/// Finds a function that the compiler made to be called by its name, as distributed methods are.
///
/// Only looks for the very name in the tables of this process: nothing of it is read as the name of a type.
@_silgen_name("swift_findAccessibleFunction")
@unsafe
private func accessibleFunction(
  _ name: UnsafePointer<UInt8>, _ count: Int
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
}
