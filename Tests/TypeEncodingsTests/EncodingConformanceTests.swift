// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing
import TypeEncodings

@Suite("Conformance: signatures and encodings (areas SIG and ENC)")
struct ConformanceTests {
  @Test("every row of the table is checked, or has the reason that it does not apply")
  func complete() throws {
    #expect(try Self.table.rows().count == 105)
    #expect(try Self.table.unmatched() == [])
  }

  @Test("a case on which other libraries agree holds here", arguments: table.answers.keys.sorted())
  func row(id: String) throws { try Self.table.run(id) }

  // MARK: Checks

  static func signature(
    _ spelling: String, _ result: String, _ arguments: [String], length: Int? = nil,
    offsets: [Int]? = nil, isOneway: Bool = false
  ) -> Conformance.Answer {
    .check { () throws -> Void in
      let signature = try MethodSignature(parsing: spelling)
      #expect("\(signature.resultType)" == result)
      #expect(signature.argumentTypes.map { "\($0)" } == arguments)
      if let length { #expect(try signature.resultLength == length) }
      if let offsets { #expect(Array(signature.advice.dropFirst()) == offsets) }
      #expect(signature.isOneway == isOneway)
    }
  }

  static func layout(_ spelling: String, _ size: Int, _ alignment: Int) -> Conformance.Answer {
    .check { () throws -> Void in
      let layout = try TypeEncoding(parsing: spelling).layout
      #expect(layout == TypeLayout(size: size, alignment: alignment), "\(spelling)")
    }
  }

  static func refused(_ spellings: String...) -> Conformance.Answer {
    .check { () throws -> Void in
      for spelling in spellings {
        #expect(throws: TypeEncodingError.self) { try TypeEncoding(parsing: spelling) }
      }
    }
  }

  static func refusedSignature(_ spellings: String...) -> Conformance.Answer {
    .check { () throws -> Void in
      for spelling in spellings {
        #expect(throws: TypeEncodingError.self) { try MethodSignature(parsing: spelling) }
      }
    }
  }

  static func trailing(_ spelling: String, at offset: Int) -> Conformance.Answer {
    .check { () throws -> Void in
      let error = TypeEncodingError(
        reason: .trailingCharacters, offset: offset, encoding: spelling)
      #expect(throws: error) { try TypeEncoding(parsing: spelling) }
    }
  }

  static func bitField(
    _ spelling: String, _ width: Int, _ storage: Scalar? = nil, at position: Int? = nil
  ) -> Conformance.Answer {
    .check { () throws -> Void in
      let kind = try TypeEncoding(parsing: spelling).kind
      #expect(kind == .bitField(width: width, storage: storage, position: position))
    }
  }

  static func alike(_ pairs: (String, String)...) -> Conformance.Answer {
    .check { () throws -> Void in
      for (one, other) in pairs {
        let spellings = try [one, other].map { try TypeEncoding(parsing: $0).canonicalSpelling }
        #expect(spellings[0] == spellings[1], "\(one) \(other)")
      }
    }
  }

  static func equal(_ pairs: (String, String)...) -> Conformance.Answer {
    .check { () throws -> Void in
      for (one, other) in pairs {
        #expect(
          try MethodSignature(parsing: one) == MethodSignature(parsing: other), "\(one) \(other)")
      }
    }
  }

  static func members(_ spelling: String, _ name: String, _ members: [String]) -> Conformance.Answer
  {
    .check { () throws -> Void in
      guard case .structure(let found, let list) = try TypeEncoding(parsing: spelling).kind else {
        Issue.record("\(spelling) is no structure")
        return
      }
      #expect(found == name)
      #expect((list ?? []).map { ($0.name.map { "\($0):" } ?? "") + "\($0.type)" } == members)
    }
  }

  static func all(_ answers: Conformance.Answer...) -> Conformance.Answer {
    .check { () throws -> Void in
      for case .check(let body) in answers { try body() }
    }
  }

  // MARK: The rows

  static let table = Conformance(areas: ["SIG", "ENC"], signatures.merging(encodings) { $1 })

  private static let limits = Conformance.Answer.checked(
    in: "LimitTests, '254 declared arguments are accepted'")

  private static let prints = Conformance.Answer.checked(
    in: "SpellingTests, 'a type prints as it was written'")

  private static let large = "{s0=csi(u1={s2=iii{s3=(u4=ic^v*)}})}"

  private static let signatures: [String: Conformance.Answer] = [
    "C001": signature("v@:", "v", ["@", ":"], length: 0),
    "C003": signature("i24@0:8i16i20", "i", ["@", ":", "i", "i"], length: 4),
    "C004": signature("i28@0:8S16*20", "i", ["@", ":", "S", "*"], offsets: [0, 8, 16, 20]),
    "C005": signature(
      "\(large)24@0:8^\(large)16", large, ["@", ":", "^\(large)"], offsets: [0, 8, 16]),
    "C006": signature("@@::", "@", ["@", ":", ":"]),
    "C007": equal(
      ("@12@0:4:8", "@@::"), ("@12@+0:+4:+8", "@@::"), ("@12@-0:-4:-8", "@@::"),
      ("@16@+4:+8:+12", "@@::"), ("@16@-4:-8:-12", "@@::")),
    "C008": equal(("{_MyLargeStruct2={_MyLargeStruct=dd}dd}@:", "{??={??=dd}dd}16@0:4")),
    "C010": signature("^v@:@o^i", "^v", ["@", ":", "@", "o^i"]),
    "C014": signature("v@", "v", ["@"]),
    "C015": signature("@^v^c", "@", ["^v", "^c"]),
    "C017": signature("v16@0:8", "v", ["@", ":"]),
    "C019": signature("v@:nNoORVi", "v", ["@", ":", "nNoORVi"]),
    "C020": signature(
      "v32@0:8@\"NSString\"16@?<v@?@\"BAAssetPack\"@\"NSError\">24", "v",
      ["@", ":", "@\"NSString\"", "@?<v@?@\"BAAssetPack\"@\"NSError\">"]),
    "C021": signature("v@:@\"NSString\"", "v", ["@", ":", "@\"NSString\""]),
    "C022": signature("@:@?", "@", [":", "@?"]),
    "C025": .checked(in: "MethodSignatureTests, 'blocks and plain functions have signatures'"),
    "C026": signature("v24@?0@\"NSString\"8^C16", "v", ["@?", "@\"NSString\"", "^C"]),
    "C027": signature("C8@?0", "C", ["@?"], length: 1),
    "C028": signature("r*16@0:8", "r*", ["@", ":"], length: 8),
    "C031": all(
      signature("{CGPoint=dd}@:", "{CGPoint=dd}", ["@", ":"], length: 16),
      signature(
        "{CGRect={CGPoint=dd}{CGSize=dd}}@:", "{CGRect={CGPoint=dd}{CGSize=dd}}", ["@", ":"],
        length: 32),
      signature("{x=[5q]}@:", "{x=[5q]}", ["@", ":"], length: 40),
      signature("{x=ci}@:", "{x=ci}", ["@", ":"], length: 8),
      signature("{x=CCC}@:", "{x=CCC}", ["@", ":"], length: 3)),
    "C033": limits, "C034": limits,
    "C038": refused("[2i", "[2ii", "<2i", "<2ii"),
    "C039": refused("{p", "{p=2i", "{p=2i\"helloi"),
    "C041": refusedSignature(
      "v@:[4", "v@:{Foo", "v@:{Foo=", "v@:{Foo=i", "v@:(Foo", "v@:^", "v@:@\"NSString", "v@:j",
      "v@:?", " v@:", "v@: i", "v@:!"),
    "C042": refusedSignature("x@:", "v@:x"),
    "C043": .checked(in: "ParserFaultTests, 'faults of a signature'"),
    // Apple refuses unions by value; this package follows GNUstep, which defines them.
    "C044": signature("v@:(U=id)", "v", ["@", ":", "(U=id)"]),
    "C045": .checked(in: "MethodSignatureTests, 'an index out of range is refused'"),
    "C046": equal(("v@:", "v16@0:8")),
    "C047": equal(("v@:@", "v@:@\"X\""), ("v@:@?", "v@:@?<v@?>")),
    "C049": members("{NSPoint=dd}", "NSPoint", ["d", "d"]),
    "C050": members("{NSPoint=\"x\"d\"y\"d}", "NSPoint", ["x:d", "y:d"]),
    "C051": members("{=d10d}", "", ["d", "d"]),
    "C052": all(members("{NSPoint=}", "NSPoint", []), members("{NSPoint}", "NSPoint", [])),
    "C053": refused("{}", "{NSPoint=dd", "{NSPoint=dd}d", "{NSPoint=XX}"),
    "C054": prints,
    "C055": layout("(_union=\"a\"i\"b\"f)", 4, 4),
    "C056": members("{p=i<2f>\"world\"[10@]}", "p", ["i", "<2f>", "world:[10@]"]),
  ]

  private static let encodings: [String: Conformance.Answer] = {
    var rows: [String: Conformance.Answer] = [
      "C057": all(
        members("{abc=}", "abc", []), members("{abc=ii}", "abc", ["i", "i"]),
        trailing("{abc}def", at: 5)),
      "C058": trailing("{_=}.a'", at: 4),
      // An empty name is accepted, as in clang and PyObjC; without a body as well it is refused.
      "C059": all(
        members("{=d}", "", ["d"]), members("{.=d}", ".", ["d"]), refused("{}", "{=def}")),
      "C060": refused("{abc", "{abc)def", "{"), "C061": bitField("b8", 8), "C062": refused("b8C"),
      "C063": bitField("b8C4", 4, .uint8, at: 8), "C064": members("{s=b8C}", "s", ["b8", "C"]),
      "C065": refused("b2000"), "C066": bitField("b2000c100", 100, .int8, at: 2000),
      "C067": refused("b2000C257"), "C068": refused("]"), "C069": refused("[42]", "^"),
      // Objects, blocks and classes have different ownership here.
      "C070": alike(("*", "^c"), ("*", "^C"), ("@", "@\"X\"")),
      // Behind a pointer the name decides; by value the members do, which SpellingTests checks.
      "C071": alike(("^{S=}", "^{S=ii}"), ("^^{S}", "^^{S=ii}")),
      "C072": alike(("^r@", "^@")),
      "C073": prints,
      "C119": .check { () throws -> Void in
        for (spelling, size, alignment, read) in [
          ("{st259=ci}", 5, 1, "8/4"), ("{st261=i}", 16, 16, "4/4"), ("{st263=ci}", 32, 16, "8/4"),
        ] {
          #expect(try "\(TypeEncoding(parsing: spelling).layout)" == read)
          var layouts = StructureLayouts()
          let name = String(spelling.dropFirst().prefix { $0 != "=" })
          layouts[name] = .init(size: size, alignment: alignment)
          #expect(
            try TypeEncoding(parsing: spelling, layouts: layouts).layout
              == TypeLayout(size: size, alignment: alignment))
        }
      },
      "C120": .checked(in: "the rows C076 and C077, and CompilerTableTests"),
      "C121": .checked(in: "RegisteredLayoutTests, 'a vector of GCC'; ParserFaultTests"),
      "C122": .check { () throws -> Void in
        for (spelling, size, alignment) in [
          ("{Test1Struct=cic}", 12, 4), ("{Test2Struct=c{t=si}(u=ci)d}", 24, 8),
          ("(Test3Union=cid)", 8, 8), ("(Test4Union=c{t=ss}i(u=fd))", 8, 8),
          ("[5{Test1Struct=cic}]", 60, 4),
        ] {
          #expect(
            try TypeEncoding(parsing: spelling).layout
              == TypeLayout(size: size, alignment: alignment))
        }
      },
    ]
    // The rows with one encoding have its layout as the compilers say it.
    for row in (try? Table("conformance").rows) ?? [] where ("C074"..."C118").contains(row["id"]) {
      guard let match = row["expected"].prefixMatch(of: /size (\d+), align (\d+)/),
        let size = Int(match.1), let alignment = Int(match.2)
      else { continue }
      rows[row["id"]] = layout(row["input"], size, alignment)
    }
    return rows
  }()
}
