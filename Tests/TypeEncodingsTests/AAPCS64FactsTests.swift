// SPDX-License-Identifier: Apache-2.0
import Testing
import TypeEncodings

/// Each row was compiled by gcc 12 and by clang 21 for AArch64, and the registers read from their
/// code.
@Suite("AAPCS64 passing facts")
struct AAPCS64FactsTests {
  static let layouts: StructureLayouts = {
    var layouts = StructureLayouts()
    layouts["packed"] = .init(size: 9, alignment: 1, fieldOffsets: [0, 1])
    layouts["floats"] = .init(size: 8, alignment: 1, fieldOffsets: [0, 4])
    layouts["wide"] = .init(size: 16, alignment: 1, fieldOffsets: [0])
    layouts["apart"] = .init(size: 16, alignment: 8, fieldOffsets: [0, 8])
    layouts["alone"] = .init(size: 8, alignment: 8, fieldOffsets: [0])
    layouts["even"] = .init(size: 16, alignment: 16, fieldOffsets: [0])
    layouts["even4"] = .init(size: 16, alignment: 16, fieldOffsets: [0])
    layouts["even5"] = .init(size: 32, alignment: 16, fieldOffsets: [0])
    layouts["again"] = .init(size: 16, alignment: 16, fieldOffsets: [0])
    layouts["union"] = .init(size: 16, alignment: 16, fieldOffsets: [0, 0])
    layouts["unnamed"] = .init(size: 8, alignment: 4, fieldOffsets: [0])
    layouts["placeless"] = .init(size: 16, alignment: 8)
    layouts["opaque"] = .init(size: 64, alignment: 8)
    layouts["large"] = .init(size: 72, alignment: 8)
    layouts["empty"] = .init(size: 0, alignment: 8)
    layouts["fields"] = .init(size: 16, alignment: 1, fieldOffsets: [0, 8])
    return layouts
  }()

  private static func type(
    _ spelling: String, _ machine: Machine = .aarch64Linux
  ) throws -> TypeEncoding {
    try TypeEncoding(utf8: Array(spelling.utf8), layouts: layouts, for: machine)
  }

  @Test(
    "one to four numbers of one floating type use a vector register each",
    arguments: [
      ("f", .float, 1), ("d", .double, 1), ("D", .longDouble, 1), ("jf", .float, 2),
      ("jd", .double, 2), ("jD", .longDouble, 2), ("{S=f}", .float, 1), ("{S=fff}", .float, 3),
      ("{S=dddd}", .double, 4), ("{S=DDDD}", .longDouble, 4), ("{S=[4f]}", .float, 4),
      ("{S=[2{P=dd}]}", .double, 4), ("{S=jff}", .float, 3), ("{S={A=d}(B=d)d}", .double, 3),
      ("(U=f[4f])", .float, 4), ("(U=[2f]jf)", .float, 2), ("{S=(U=f[2f])f}", .float, 3),
      ("{S={e=}f}", .float, 1), ("{S=[3{e=}]f}", .float, 1), ("{S=d{empty=}d}", .double, 2),
      ("{floats=ff}", .float, 2), ("Af", .float, 1),
    ] as [(String, Scalar, Int)])
  func homogeneous(spelling: String, part: Scalar, count: Int) throws {
    let facts = try Self.type(spelling).passingFacts()
    #expect(facts.component == part)
    #expect(facts.componentCount == count)
    #expect(facts.first == .vector)
    #expect(facts.second == (facts.size > 8 ? .vector : .none))
  }

  @Test(
    "other types of up to 16 bytes use one or two words",
    arguments: [
      ("c", 1), ("B", 1), ("*", 1), ("@", 1), ("^v", 1), ("q", 1), ("t", 2), ("T", 2),
      ("ji", 1), ("jq", 2), ("{S=fi}", 1), ("{S=fd}", 2), ("(U=d[2f])", 1), ("(U=fi)", 1),
      ("{S=[9c]}", 2), ("{S=t}", 2), ("{S=b0i3f}", 1), ("{packed=cd}", 2), ("{wide=t}", 2),
      // Numbers with a gap between them are no homogeneous aggregate.
      ("{apart=ff}", 2), ("{alone=f}", 1),
      ("{S=i[0i]}", 1), ("{S=f[0f]i}", 1),
      ("{S=b0i3b32i0}", 1), ("{S=fb32q0}", 1), ("{S=Aii}", 1),
      ("{placeless=qq}", 2), ("{placeless=fq}", 2),
    ] as [(String, Int)])
  func integers(spelling: String, words: Int) throws {
    let facts = try Self.type(spelling).passingFacts()
    #expect(facts.component == nil && facts.componentCount == 0)
    #expect(facts.first == .integer)
    #expect(facts.second == (words == 2 ? .integer : .none))
  }

  @Test(
    "other types above 16 bytes are passed as the address of a copy",
    arguments: [
      "{S=[17c]}", "{S=fffff}", "{S=[5d]}", "{S=jf[3f]}", "{S=dddi}", "{S=Dd}", "{S=[5D]}",
      "{S=ddddd}", "(U=[5f]f)", "{S=qqq}", "A{S=qqq}", "{S=dddd[0d]d}", "{even5=q}", "{large=}",
    ])
  func copied(spelling: String) throws {
    let facts = try Self.type(spelling).passingFacts()
    #expect(facts.first == .memory && facts.second == .none && facts.component == nil)
  }

  @Test(
    "a type without size is not passed", arguments: ["{E=}", "{S=[0d]}", "{S=[0t]}", "{S={E=}}"])
  func nothing(spelling: String) throws {
    let facts = try Self.type(spelling).passingFacts()
    #expect(facts.size == 0 && facts.first == .none && facts.component == nil)
  }

  @Test(
    "a type that compilers may pass differently is refused, with the member that causes it",
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
  func refused(spelling: String, offset: Int) throws {
    let type = try Self.type(spelling)
    _ = try type.layout
    let error = #expect(throws: TypeEncodingError.self) { try type.passingFacts() }
    #expect(error?.reason == .compilersDisagree)
    #expect(error?.offset == offset)
    #expect(error?.description.contains("pass a pointer to it") == true)
  }

  @Test(
    "members without names may be numbers, unless there are other members",
    arguments: [
      ("{opaque}", .membersUnknown), ("{opaque=}", .membersUnknown), ("{large}", nil),
      ("{placeless=d}", .membersUnknown), ("{placeless=dd}", .membersUnknown),
      ("{placeless=q}", nil),
      ("{placeless=fff}", .membersUnknown),
      ("![16,16f]", .vectorByValue), ("{S=![16,16f]}", .vectorByValue),
    ] as [(String, TypeEncodingError.Reason?)])
  func unknown(spelling: String, reason: TypeEncodingError.Reason?) throws {
    let type = try Self.type(spelling)
    var refusal: TypeEncodingError.Reason?
    do { _ = try type.passingFacts() } catch { refusal = error.reason }
    #expect(refusal == reason)
  }

  @Test("a type in a signature is classified as it is alone")
  func arguments() throws {
    let text = Array("{S=Ad}@:{S=d}Af{S=ct}".utf8)
    let signature = try MethodSignature(utf8: text, for: .aarch64Linux)
    #expect(throws: TypeEncodingError.self) { try signature.resultType.passingFacts() }
    let facts = try signature.argumentTypes[2...].map { try $0.passingFacts() }
    #expect(facts.map(\.component) == [.double, .float, nil])
    #expect(facts.map(\.alignment) == [8, 4, 16])
  }
}
