// SPDX-License-Identifier: Apache-2.0
/// Computes the layout of a structure or union from its members, like C compilers.
///
/// Tests compare it with gcc and clang on every row of `encodings.tsv` and on random types.
struct AggregateLayout {
  let isUnion: Bool
  private let machine: Machine
  private(set) var size = 0
  private(set) var alignment = 1
  private(set) var fault: (reason: TypeEncodingError.Reason, offset: Int)?
  /// The end of the last member, in bits.
  private var end = 0
  private var largest = 0

  init(isUnion: Bool, on machine: Machine) {
    self.isUnion = isUnion
    self.machine = machine
  }

  /// Places `member`, and writes its position into it.
  mutating func append(_ member: inout EncodingNode) {
    if member.form == .bitField {
      appendBitField(&member)
      return
    }
    if let fault = member.fault { blame(fault, Int(member.faultOffset)) }
    alignment = max(alignment, Int(member.alignment))
    let offset = isUnion ? 0 : Self.roundUp((end + 7) / 8, to: Int(member.alignment))
    member.position = offset * 8
    member.hasPosition = true
    end = (offset + Int(member.size)) * 8
    largest = max(largest, end)
  }

  /// Appends a bit-field. GNU's dialect has its position; the declared type only adds its
  /// alignment.
  private mutating func appendBitField(_ member: inout EncodingNode) {
    let at = Int(member.start)
    guard member.hasBody else { return blame(.bitFieldWithoutStorage, at) }
    let unit = member.scalar.size * 8
    let width = member.count
    if width > unit { return blame(.bitFieldTooWide(limit: unit), at) }
    if !isUnion, member.position < end { return blame(.bitFieldOverlaps, at) }
    if width > 0, member.position / unit != (member.position + width - 1) / unit {
      return blame(.bitFieldCrossesUnit, at)
    }
    // On AArch64 one without a width aligns its structure, too.
    if width > 0 || machine == .aarch64Linux {
      alignment = max(alignment, member.scalar.size)
    }
    member.hasPosition = true
    end = member.position + width
    largest = max(largest, end)
  }

  mutating func finish() {
    size = Self.roundUp((largest + 7) / 8, to: alignment)
  }

  private mutating func blame(_ reason: TypeEncodingError.Reason, _ offset: Int) {
    if fault == nil { fault = (reason, offset) }
  }

  static func roundUp(_ value: Int, to alignment: Int) -> Int {
    (value + alignment - 1) & ~(alignment - 1)
  }
}
