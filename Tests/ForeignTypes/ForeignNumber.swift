public import Forwarding

/// A number that its module made a C structure, and tests make a carried value too.
public struct ForeignNumber: CallStructure, Equatable {
  public var number: Int

  public init(_ number: Int) { self.number = number }

  public static var structure: VouchedStructure<ForeignNumber> {
    unsafe VouchedStructure("{ForeignNumber=q}")
  }
}
