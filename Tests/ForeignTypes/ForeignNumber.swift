// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

/// A type that its module declares as a C structure, and that tests also declare as a carried
/// value.
public struct ForeignNumber: CallStructure, Equatable {
  public var number: Int

  public init(_ number: Int) { self.number = number }

  public static var structure: VouchedStructure<ForeignNumber> {
    unsafe VouchedStructure("{ForeignNumber=q}")
  }
}
