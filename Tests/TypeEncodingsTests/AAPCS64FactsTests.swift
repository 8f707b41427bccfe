// SPDX-License-Identifier: Apache-2.0
import Testing
import TypeEncodings

/// Each row was compiled by gcc 12 and by clang 21 for AArch64, and the registers read from their
/// code.
@Suite("AAPCS64 passing facts")
struct AAPCS64FactsTests {
  static let layouts: StructureLayouts = {
    var layouts = StructureLayouts()
    for (name, size, alignment, offsets) in registered {
      layouts[name] = .init(size: size, alignment: alignment, fieldOffsets: offsets)
    }
    return layouts
  }()

  /// Sizes, alignments and the offsets of members.
  private static let registered: [(String, Int, Int, [Int]?)] = [
    ("packed", 9, 1, [0, 1]), ("floats", 8, 1, [0, 4]), ("wide", 16, 1, [0]),
    ("apart", 16, 8, [0, 8]), ("alone", 8, 8, [0]), ("even", 16, 16, [0]), ("even4", 16, 16, [0]),
    ("even5", 32, 16, [0]), ("again", 16, 16, [0]), ("union", 16, 16, [0, 0]),
    ("unnamed", 8, 4, [0]), ("placeless", 16, 8, nil), ("opaque", 64, 8, nil),
    ("large", 72, 8, nil), ("empty", 0, 8, nil), ("fields", 16, 1, [0, 8]),
    ("aligned", 8, 8, [0]), ("packed3", 16, 1, [0, 4, 12]), ("far", 20, 1, [0, 4, 12]),
    ("empty8", 0, 8, nil), ("around", 8, 1, [0, 4, 4]), ("odd", 4, 1, [0, 0]),
    ("five", 5, 1, [0, 4]), ("front", 16, 8, [8]), ("middle", 12, 4, [0, 8]),
    ("vector", 16, 8, [0]),
  ]

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
      ("{S=i[0i]}", 1), ("{S=f[0f]i}", 1), ("{S=[0q]t}", 2),
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
