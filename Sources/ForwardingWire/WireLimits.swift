// SPDX-License-Identifier: Apache-2.0
/// Limits that are checked before memory is allocated for received bytes.
///
/// ```swift
/// var small = WireLimits()
/// small.message = 64
/// var shop = Interface("shop", limits: small)
/// try shop.allow(Message<NoResult, String>("order:"))
/// let order = try Message<NoResult, String>("order:").invocation(String(repeating: "tea ", count: 20))
/// try shop.encode(order)  // throws: byte 12: the limit is 64 bytes, but 92 are given
/// ```
public struct WireLimits: Hashable, Sendable {
  /// The most bytes of one message, or of one record.
  public var message = 1 << 20
  /// The most bytes of one text, or of one value of a Swift type.
  public var text = 1 << 20
  /// How deeply structures, and lists in values, may nest.
  public var depth = 16

  /// The most arguments of a message, without receiver and selector.
  public static let arguments = 64
  /// The most bytes of an interface's name.
  public static let interfaceName = 255
  /// The most bytes of a message's encoding.
  public static let encoding = 16_384

  /// Makes the default limits.
  public init() {}
}
