// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TypeEncodings

/// The differences between gcc 12 and clang 21 were found by compiling each of these types.
@Suite("Types that compilers pass differently on x86-64")
struct DisagreementTests {
  /// The twin for AArch64 is ``AAPCS64FactsTests``.
  private static func type(
    _ spelling: String, _ layouts: StructureLayouts = layouts()
  ) throws -> TypeEncoding {
    try TypeEncoding(utf8: Array(spelling.utf8), layouts: layouts, for: .x86_64Linux)
  }

  static func layouts() -> StructureLayouts {
    var layouts = StructureLayouts()
    layouts["aligned"] = .init(size: 8, alignment: 8, fieldOffsets: [0])
    layouts["packed"] = .init(size: 16, alignment: 1, fieldOffsets: [0, 4, 12])
    layouts["wide"] = .init(size: 20, alignment: 1, fieldOffsets: [0, 4, 12])
    layouts["empty8"] = .init(size: 0, alignment: 8)
    layouts["around"] = .init(size: 8, alignment: 1, fieldOffsets: [0, 4, 4])
    layouts["odd"] = .init(size: 4, alignment: 1, fieldOffsets: [0, 0])
    layouts["five"] = .init(size: 5, alignment: 1, fieldOffsets: [0, 4])
    layouts["unnamed"] = .init(size: 8, alignment: 4, fieldOffsets: [0])
    layouts["front"] = .init(size: 16, alignment: 8, fieldOffsets: [8])
    layouts["middle"] = .init(size: 12, alignment: 4, fieldOffsets: [0, 8])
    layouts["vector"] = .init(size: 16, alignment: 8, fieldOffsets: [0])
    return layouts
  }

  @Test(
    "a type that compilers pass differently is refused by value, with the member that causes it",
    arguments: [
      // A flexible array member. An array of length 0 has the same encoding.
      ("{F=i[0i]}", 4), ("{L={F=i[0i]}}", 7), ("(U=i[0c])", 4), ("[1{F=i[0i]}]", 6),
      ("{F=D[0i]}", 4), ("{Z=[0i]}", 3),
      // gcc may pass a float as an integer because of an array of no length inside an eightbyte.
      ("{T=f[0c]q}", 4), ("{T=f{e=[0c]}q}", 7), ("{G=i[0i]i}", 4),
      // An inner structure at an offset that its own alignment forbids, and a bit-field of a union.
      ("{packed=i{aligned=i}i}", 9), ("{around=i{empty8=}i}", 9), ("{D=C(odd=b0I14b0i25)}", 9),
      // gcc looks at the first element of an array only.
      ("{R=[2{five=fB}]i}", 11),
      // An unnamed bit-field, or a vector, for which clang's encoding has nothing.
      ("{unnamed=f}", 0), ("{front=d}", 0), ("{middle=fi}", 0), ("{vector=d}", 0), ("{S=b64q8}", 0),
    ] as [(String, Int)])
  func refused(spelling: String, offset: Int) throws {
    let type = try Self.type(spelling)
    _ = try type.layout
    let error = #expect(throws: TypeEncodingError.self) { try type.passingFacts() }
    #expect(error?.reason == .compilersDisagree)
    #expect(error?.offset == offset)
    #expect(error?.description.contains("pass a pointer to it") == true)
  }

  @Test(
    "a type that every compiler passes in memory is accepted",
    arguments: ["{R=c[2{five=fB}]}", "{F=iqq[0i]}", "{wide=i{aligned=i}q}", "{D={F=i[0i]}D}"])
  func passedInMemory(spelling: String) throws {
    let type = try Self.type(spelling)
    #expect(try type.passingFacts().first == .memory)
  }

  @Test(
    "an empty array before all members, and an empty member, change nothing",
    arguments: [("{G=[0t]i}", 16), ("{G={e=}i}", 4), ("{G=i{empty8=}}", 8)])
  func passedInRegisters(spelling: String, size: Int) throws {
    let facts = try Self.type(spelling).passingFacts()
    #expect(facts.size == size)
    #expect(facts.first == .integer)
    #expect(facts.second == .none)
  }

  @Test("a registered layout around an empty member is valid")
  func emptyMember() throws {
    var layouts = StructureLayouts()
    layouts["owner"] = .init(size: 8, alignment: 8, fieldOffsets: [0, 4])
    layouts["e"] = .init(size: 0, alignment: 1)
    for text in ["{owner=i{e=}}", "{owner=i{e2=}}"] {
      #expect(try Self.type(text, layouts).passingFacts().first == .integer)
    }
  }

  @Test("a registered size smaller than a member is refused, with or without offsets")
  func tooSmall() throws {
    for offsets in [nil, [0, 0, 0]] {
      var layouts = StructureLayouts()
      layouts["A"] = .init(size: 0, alignment: 1, fieldOffsets: offsets)
      let type = try Self.type("{A=QCL}", layouts)
      let error = #expect(throws: TypeEncodingError.self) { try type.layout }
      #expect(error?.reason == .registeredMemberOutside(size: 0))
    }
  }

  @Test("a registered layout keeps the exact bit of a bit-field that the encoding determines")
  func packedBitField() throws {
    var layouts = StructureLayouts()
    layouts["bits"] = .init(size: 9, alignment: 1, fieldOffsets: [0, 7])
    let type = try Self.type("{bits=b0q60b60I6}", layouts)
    #expect(type.members?.map(\.bitOffset) == [0, 60])
    #expect(try type.passingFacts().second == .integer)
    // A width alone does not show whether the field reaches into the ninth byte.
    let width = try Self.type("{bits=b60b6}", layouts)
    let error = #expect(throws: TypeEncodingError.self) { try width.passingFacts() }
    #expect(error?.reason == .membersUnknown)
  }
}
