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

  @Test("row", arguments: table.answers.keys.sorted())
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
    "C025": .check { () throws -> Void in
      let block = try MethodSignature(parsing: "v8@?0")
      #expect(block.shape == .block)
      #expect(block.argumentTypes.map { "\($0)" } == ["@?"])
    },
    "C026": signature("v24@?0@\"NSString\"8^C16", "v", ["@?", "@\"NSString\"", "^C"]),
    "C027": signature("C8@?0", "C", ["@?"], length: 1),
    "C028": signature("r*16@0:8", "r*", ["@", ":"], length: 8),
    "C031": .check { () throws -> Void in
      for (spelling, length) in [
        ("{CGPoint=dd}@:", 16), ("{CGRect={CGPoint=dd}{CGSize=dd}}@:", 32), ("{x=[5q]}@:", 40),
        ("{x=ci}@:", 8), ("{x=CCC}@:", 3),
      ] { #expect(try MethodSignature(parsing: spelling).resultLength == length) }
    },
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
    "C045": .check { () throws -> Void in
      let signature = try MethodSignature(parsing: "v@:")
      let error = #expect(throws: SignatureIndexError.self) { try signature.argumentType(at: 2) }
      #expect("\(error!)" == "argument 2 was asked for, but the arguments are 0 to 1")
    },
    "C046": equal(("v@:", "v16@0:8")),
    "C047": equal(("v@:@", "v@:@\"X\""), ("v@:@?", "v@:@?<v@?>")),
    "C049": members("{NSPoint=dd}", "NSPoint", ["d", "d"]),
    "C050": members("{NSPoint=\"x\"d\"y\"d}", "NSPoint", ["x:d", "y:d"]),
    "C051": members("{=d10d}", "", ["d", "d"]),
    "C052": .check { () throws -> Void in
      for spelling in ["{NSPoint=}", "{NSPoint}"] {
        let type = try TypeEncoding(parsing: spelling)
        guard case .structure("NSPoint", _) = type.kind else {
          Issue.record("\(spelling)")
          continue
        }
        #expect((type.members ?? []).isEmpty)
      }
    },
    "C053": refused("{}", "{NSPoint=dd", "{NSPoint=dd}d", "{NSPoint=XX}"),
    "C054": prints,
    "C055": layout("(_union=\"a\"i\"b\"f)", 4, 4),
    "C056": members("{p=i<2f>\"world\"[10@]}", "p", ["i", "<2f>", "world:[10@]"]),
  ]

  private static let encodings: [String: Conformance.Answer] = {
    var rows: [String: Conformance.Answer] = [
      "C057": .check { () throws -> Void in
        for (spelling, count) in [("{abc=}", 0), ("{abc=ii}", 2)] {
          let type = try TypeEncoding(parsing: spelling)
          guard case .structure("abc", _) = type.kind else {
            Issue.record("\(spelling)")
            continue
          }
          #expect(type.members?.count == count)
        }
        let error = TypeEncodingError(
          reason: .trailingCharacters, offset: 5, encoding: "{abc}def")
        #expect(throws: error) { try TypeEncoding(parsing: "{abc}def") }
      },
      "C058": trailing("{_=}.a'", at: 4),
      // An empty name is accepted, as in clang and PyObjC; without a body as well it is refused.
      "C059": .check { () throws -> Void in
        for spelling in ["{=d}", "{.=d}"] { _ = try TypeEncoding(parsing: spelling) }
        for spelling in ["{}", "{=def}"] {
          #expect(throws: TypeEncodingError.self) { try TypeEncoding(parsing: spelling) }
        }
      },
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
      "C121": .checked(in: "RegisteredLayoutTests, 'vectors', and ParserFaultTests"),
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
    for (number, spelling, size, alignment) in layouts {
      let digits = "\(number)"
      rows["C" + String(repeating: "0", count: 3 - digits.count) + digits] =
        layout(spelling, size, alignment)
    }
    return rows
  }()

  private static let layouts: [(Int, String, Int, Int)] = [
    (74, "c", 1, 1), (75, "s", 2, 2), (76, "i", 4, 4), (77, "q", 8, 8), (78, "f", 4, 4),
    (79, "d", 8, 8), (80, "D", 16, 16), (81, "B", 1, 1), (82, "t", 16, 16), (83, "jf", 8, 4),
    (84, "jd", 16, 8), (85, "jD", 32, 16), (86, "ji", 8, 4), (87, "*", 8, 8), (88, "@?", 8, 8),
    (89, "^?", 8, 8), (90, "{s=ci}", 8, 4), (91, "{s=cd}", 16, 8), (92, "{s=CCC}", 3, 1),
    (93, "{s=[3{t=cs}]d}", 24, 8), (94, "(u=id)", 8, 8), (95, "(u=[5c]i)", 8, 4),
    (96, "(u=[3c]s)", 4, 2), (97, "{s=D}", 16, 16), (98, "{s=cD}", 32, 16), (99, "{e=}", 0, 1),
    (100, "[0c]", 0, 1), (101, "[2[3i]]", 24, 4), (102, "{bf227=b0I3b3I5b8I7}", 4, 4),
    (103, "{bf229=b0I20b32I20}", 8, 4), (104, "{bf231=b0I31b32I2}", 8, 4),
    (105, "{bf233=b0C3b3C5}", 1, 1), (106, "{bf234=b0C3b8C6}", 2, 1),
    (107, "{bf235=b0S9b16S8}", 4, 2), (108, "{bf236=b0q40b40q20}", 8, 8),
    (109, "{bf237=b0Q40b64Q40}", 16, 8), (110, "{bf240=b0C4b4I12}", 4, 4),
    (111, "{bf243=cb8I3}", 4, 4), (112, "{bf244=cb8I3c}", 4, 4),
    (113, "{bf245=ib32i5b37i6s}", 8, 4), (114, "{bf246=db64I1b65I1}", 16, 8),
    (115, "{bf247=b0I16b16I16*^v}", 24, 8), (116, "{bf251=b0I3b32I0b32I3}", 8, 4),
    (117, "(bfu253=b0I3b0I17)", 4, 4), (118, "[3{bf256=b0I3b3I5}]", 12, 4),
  ]
}
