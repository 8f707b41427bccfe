// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing
import TypeEncodings

@Suite("Spelling and equality")
struct SpellingTests {
  @Test(
    "a type prints as it was written, except for numbers inside structures",
    arguments: [
      ("{_NSRect=\"origin\"{_NSPoint=\"x\"f\"y\"f}\"size\"{_NSSize=\"width\"f\"height\"f}}", nil),
      ("rn*", nil), ("nNoORVi", nil), ("@?<v@?@\"NSString\">", nil), ("![16,16f]", nil),
      ("{=d10d}", "{=dd}"), ("{p=i<2f>\"world\"[10@]}", nil), ("{s=b8C}", nil), ("AA{a}", nil),
      ("{shared_ptr<E::blob<float, 4>>=^{blob<float, 4>}^v}", nil), ("^{op<a==b>=i}", nil),
      ("{s=\"a\"@\"b\"i}", nil), ("{e=}", nil), ("[3{e=}]", nil), ("^?", nil), ("|^i", nil),
    ] as [(String, String?)])
  func prints(spelling: String, expected: String?) throws {
    let type = try TypeEncoding(parsing: spelling)
    #expect(type.description == expected ?? spelling)
    #expect(try TypeEncoding(parsing: type.description) == type)
  }

  @Test(
    "types with the same canonical spelling need not be equal",
    arguments: [
      ("*", "^c"), ("*", "^C"), ("*", "%"), ("@", "@\"X\""),
      ("@?", "@?<v@?>"), ("^ri", "r^i"), ("^r@", "^@"), ("^{S}", "^{S=ii}"), ("^{S=}", "^{S=ii}"),
      ("^^{S}", "^^{S=d}"), ("l", "q"), ("L", "Q"), ("Ai", "i"), ("ri", "i"),
      ("{a=ii}", "{b=ii}"), ("{?=\"x\"d}", "{=d}"),
    ])
  func equivalent(one: String, other: String) throws {
    let (left, right) = (try TypeEncoding(parsing: one), try TypeEncoding(parsing: other))
    #expect(left.canonicalSpelling == right.canonicalSpelling)
    #expect(left != right)
  }

  @Test(
    "types that a call distinguishes have different canonical spellings",
    arguments: [
      ("i", "I"), ("c", "C"), ("c", "B"), ("f", "d"), ("{a=ii}", "{a=if}"), ("{a=i}", "(a=i)"),
      ("{S}", "{S=ii}"), ("{S=}", "{S=ii}"), ("^{S}", "^{T}"), ("^{?=i}", "^{?=d}"), ("^i", "^d"),
      ("[2i]", "[3i]"), ("<2f>", "<4f>"),
      (":", "@"), ("@", "@?"), ("@", "#"), ("jf", "jd"), ("^?", "^v"), ("{a=b0I3}", "{a=b0I4}"),
      ("A{a=CCC}", "{a=CCC}"),
    ])
  func different(one: String, other: String) throws {
    let (left, right) = (try TypeEncoding(parsing: one), try TypeEncoding(parsing: other))
    #expect(left.canonicalSpelling != right.canonicalSpelling)
  }

  @Test("the canonical spelling is a fixed point for every row of the table")
  func canonical() throws {
    for row in try Table("encodings").rows {
      let type = try TypeEncoding(parsing: row["encoding"])
      let canonical = try TypeEncoding(parsing: type.canonicalSpelling)
      #expect(canonical.canonicalSpelling == type.canonicalSpelling)
    }
  }

  @Test("an object's quoted name is not confused with the next member's label")
  func labels() throws {
    let type = try TypeEncoding(parsing: "{s=\"a\"@\"b\"i\"c\"@\"NSString\"\"d\"@}")
    #expect(type.members?.map(\.name) == ["a", "b", "c", "d"])
    #expect(type.members?.map { "\($0.type)" } == ["@", "i", "@\"NSString\"", "@"])
  }
}

extension TypeEncoding {
  /// A type with a layout that is registered for the structures and unions of a name.
  init(
    _ spelling: String, where name: String, hasSize size: Int, alignment: Int,
    offsets: [Int]? = nil
  ) throws {
    var layouts = StructureLayouts()
    layouts[name] = .init(size: size, alignment: alignment, fieldOffsets: offsets)
    try self.init(parsing: spelling, layouts: layouts)
  }
}

@Suite("Registered layouts")
struct RegisteredLayoutTests {
  @Test("every ambiguous structure of the table has its layout after registration")
  func lossy() throws {
    var registered = 0
    for row in try Table("encodings_lossy").rows {
      let spelling = row["encoding"]
      guard spelling.hasPrefix("{") || spelling.hasPrefix("("), let size = Int(row["size"]),
        let alignment = Int(row["align"])
      else { continue }
      let name = String(spelling.dropFirst().prefix { $0 != "=" })
      let type = try TypeEncoding(spelling, where: name, hasSize: size, alignment: alignment)
      #expect(try type.layout == TypeLayout(size: size, alignment: alignment), "\(spelling)")
      registered += 1
    }
    #expect(registered == 28)
  }

  @Test("without registration, every such row with an encoding is wrong or refused")
  func withoutRegistration() throws {
    for row in try Table("encodings_lossy").rows
    where !row["encoding"].isEmpty && !row["encoding"].contains("![")
      && !row["source"].contains("i386")
    {
      let layout = try? TypeEncoding(parsing: row["encoding"]).layout
      #expect(layout.map { "\($0)" } != "\(row["size"])/\(row["align"])", "\(row["encoding"])")
    }
  }

  @Test("a vector of GCC contains its own layout")
  func vectors() throws {
    #expect(try TypeEncoding(parsing: "![16,16f]").layout == TypeLayout(size: 16, alignment: 16))
    #expect(
      try TypeEncoding(parsing: "{v=f![16,16f]}").layout == TypeLayout(size: 32, alignment: 16))
  }

  @Test("registered offsets are those of the members, and must be as many")
  func offsets() throws {
    func type(_ spelling: String, _ offsets: [Int] = [0, 1, 9]) throws -> TypeEncoding {
      try TypeEncoding(spelling, where: "p", hasSize: 13, alignment: 1, offsets: offsets)
    }
    #expect(try type("{p=cdi}").members?.map(\.offset) == [0, 1, 9])
    let outer = try type("{o=c{p=cdi}d}")
    #expect(try outer.layout == TypeLayout(size: 24, alignment: 8))
    #expect(outer.members?.map(\.offset) == [0, 1, 16])
    let error = #expect(throws: TypeEncodingError.self) { try type("{p=cdi}", [0, 1]).layout }
    #expect(error?.reason == .registeredOffsets(expected: 3, given: 2))
  }

  @Test("a member that does not fit the registered size is refused at once")
  func outside() throws {
    func type(_ spelling: String) throws -> TypeEncoding {
      try TypeEncoding(spelling, where: "p", hasSize: 8, alignment: 8, offsets: [0])
    }
    for spelling in ["{p=[2q]}", "{p=[1000000[1000000c]]}", "{p=[10000[10000q]]}"] {
      #expect(throws: TypeEncodingError.self) { try type(spelling).layout }
      #expect(throws: TypeEncodingError.self) { try type(spelling).passingFacts() }
    }
    #expect(try type("{p=q}").layout.size == 8)
    #expect(try type("{p={opaque}}").layout.size == 8)
    #expect(throws: TypeEncodingError.self) { try type("{p={opaque}}").passingFacts() }
    for offsets in [nil, [0, 0, 0]] {
      let small = try TypeEncoding(
        "{A=QCL}", where: "A", hasSize: 0, alignment: 1, offsets: offsets)
      let error = #expect(throws: TypeEncodingError.self) { try small.layout }
      #expect(error?.reason == .registeredMemberOutside(size: 0))
    }
  }

  @Test("an implausible layout is not registered")
  func implausible() {
    var layouts = StructureLayouts()
    layouts["p"] = .init(size: 13, alignment: 2)
    layouts["q"] = .init(size: 12, alignment: 3)
    layouts["r"] = .init(size: -4, alignment: 4)
    layouts["s"] = .init(size: 4, alignment: 4, fieldOffsets: [5])
    #expect(["p", "q", "r", "s"].allSatisfy { layouts[$0] == nil })
  }

  @Test("signatures with different registered layouts are not equal")
  func identity() throws {
    var layouts = StructureLayouts()
    layouts["p"] = .init(size: 13, alignment: 1, fieldOffsets: [0, 1, 9])
    let packed = try MethodSignature(parsing: "v@:{p=cdi}", layouts: layouts)
    #expect(try packed != MethodSignature(parsing: "v@:{p=cdi}"))
  }
}
