// SPDX-License-Identifier: Apache-2.0
import Testing
import TypeEncodings

/// The differences between gcc 12 and clang 21 were found by compiling each of these types.
@Suite("Types that compilers pass differently")
struct DisagreementTests {
  private static func type(
    _ spelling: String, _ layouts: StructureLayouts = AAPCS64FactsTests.layouts,
    for machine: Machine = .x86_64Linux
  ) throws -> TypeEncoding {
    try TypeEncoding(utf8: Array(spelling.utf8), layouts: layouts, for: machine)
  }

  private static func checkRefused(_ spelling: String, _ offset: Int, _ machine: Machine) throws {
    let type = try type(spelling, for: machine)
    _ = try type.layout
    let error = #expect(throws: TypeEncodingError.self) { try type.passingFacts() }
    #expect(error?.reason == .compilersDisagree)
    #expect(error?.offset == offset)
    #expect(error?.description.contains("pass a pointer to it") == true)
  }

  @Test(
    "on x86-64, a type is refused by value with the member that causes it",
    arguments: [
      // A flexible array member. An array of length 0 has the same encoding.
      ("{F=i[0i]}", 4), ("{L={F=i[0i]}}", 7), ("(U=i[0c])", 4), ("[1{F=i[0i]}]", 6),
      ("{F=D[0i]}", 4), ("{Z=[0i]}", 3),
      // gcc may pass a float as an integer because of an array of no length inside an eightbyte.
      ("{T=f[0c]q}", 4), ("{T=f{e=[0c]}q}", 7), ("{G=i[0i]i}", 4),
      // An inner structure at an offset that its own alignment forbids, and a bit-field of a union.
      ("{packed3=i{aligned=i}i}", 10), ("{around=i{empty8=}i}", 9), ("{D=C(odd=b0I14b0i25)}", 9),
      // gcc looks at the first element of an array only.
      ("{R=[2{five=fB}]i}", 11),
      // An unnamed bit-field, or a vector, for which clang's encoding has nothing.
      ("{unnamed=f}", 0), ("{front=d}", 0), ("{middle=fi}", 0), ("{vector=d}", 0), ("{S=b64q8}", 0),
      // An eightbyte of padding in front, by unnamed bit-fields.
      ("{S=[0D]b64I3i}", 0),
      // An integer in the second half of a `long double` alone: gcc uses two registers, clang memory.
      ("(U=D{S=[0D]b64I28})", 0), ("{O=(U={S=[0D]b64I28}D)}", 0),
    ] as [(String, Int)])
  func onX86(spelling: String, offset: Int) throws {
    try Self.checkRefused(spelling, offset, .x86_64Linux)
  }

  @Test(
    "on AArch64, a type is refused by value with the member that causes it",
    arguments: [
      // Of a homogeneous structure, with an empty array.
      ("{S=[0f]ff}", 3), ("{S=f[0f]}", 4), ("(U=f[0i])", 4), ("{S=ddd[0d]}", 6),
      ("{S={e=[0f]}f}", 6), ("{S=(e=[0f])f}", 6), ("{S=[0f]jf}", 3),
      // clang does not treat atomic numbers as numbers, and rounds up structures.
      ("{S=Af}", 3), ("{S=AdAd}", 3), ("Ajf", 0), ("A{S=ff}", 0), ("A{S=ddd}", 0), ("A{S=qq}", 0),
      ("A{S=ii}", 0), ("A{S=iii}", 0), ("A{S=}", 0), ("Ajq", 0),
      // Releases of gcc before 12 pass the numbers around a bit-field without a width as integers.
      ("{S=fb32i0f}", 4), ("(U=fb0i0)", 4),
      // gcc 12 and 13 align a packed bit-field of 128 bits differently.
      ("{S=b0t7}", 3), ("{fields=qb64t60}", 9),
      // A member's own alignment counts, that of a structure does not, which a packed member or an
      // empty array may have raised.
      ("{even=q}", 0), ("{even4=[4f]}", 0), ("{even=f}", 0), ("{S={even=q}}", 3), ("{again=T}", 0),
      ("{again=D}", 0), ("(union=TC)", 0), ("{S=[0t]q}", 3), ("{S=f[0D]}", 4),
      // A vector, for which clang writes nothing.
      ("{unnamed=f}", 0),
    ] as [(String, Int)])
  func onAArch64(spelling: String, offset: Int) throws {
    try Self.checkRefused(spelling, offset, .aarch64Linux)
  }

  @Test(
    "a type that every compiler passes in memory is accepted",
    arguments: [
      "{S=[17c]}", "{R=c[2{five=fB}]}", "{F=iqq[0i]}", "{far=i{aligned=i}q}", "{D={F=i[0i]}D}",
    ])
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
