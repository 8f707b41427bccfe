// SPDX-License-Identifier: Apache-2.0
// Functions of the Swift runtime that have no Swift API. No other file of this module handles
// pointers.

/// Finds a function that the compiler has made accessible by name, as it does for distributed
/// methods.
///
/// It only searches the tables of this process for the exact name, and does not parse the name as a
/// type.
@_silgen_name("swift_findAccessibleFunction")
@unsafe
private func accessibleFunction(
  _ name: UnsafePointer<UInt8>, _ count: Int
) -> UnsafeRawPointer?

/// The generic environment of a distributed method; nil if the method is not generic.
@_silgen_name("swift_distributed_getGenericEnvironment")
@unsafe
private func genericEnvironment(
  _ name: UnsafePointer<UInt8>, _ count: UInt
) -> UnsafeRawPointer?

enum AccessibleFunctions {
  /// Whether this process has a function of a name, which may be of any origin.
  static func contains(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { bytes in
      guard let first = bytes.baseAddress else { return false }
      // SAFETY: the bytes live until the call returns, and the result is not dereferenced.
      return unsafe accessibleFunction(first, bytes.count) != nil
    }
  }

  /// Whether a method is that of a protocol, for all actors that conform to it. The runtime refuses
  /// to perform such a method with another actor. The name may be of any origin.
  static func isOfProtocol(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { bytes in
      guard let first = bytes.baseAddress else { return false }
      // SAFETY: the bytes live until the call returns, and the result is not dereferenced.
      return unsafe genericEnvironment(first, UInt(bytes.count)) != nil
    }
  }
}
