// SPDX-License-Identifier: Apache-2.0
import Testing
import TypeEncodings

@Suite("Brackets in the name of a structure")
struct StructureNameTests {
  /// As clang's `@encode` writes them.
  @Test(
    "C++ names whose brackets are balanced are read to their end",
    arguments: [
      "S<&operator==>", "S<'='>", "S<'\"'>", "S<&Y::operator()>", "S<&Y::operator[]>",
      "S<&Y::operator int>", "S<Str{{125, 61}, 3}>", "C<void (int *, int (*)(X))>",
      "C<(lambda at n.mm:14:51)>", "S<true>", "C<int[3]>", "C<X Y::*>", "C<int (int)>",
      "S<&operator\"\"_km>", "C<(unnamed struct at n.mm:15:42)>", "C<const X &>", "C<X &&>",
      "S<-3>",
      "S<2.500000e+00>", "shared_ptr<E::blob<float, 4>>", "(lambda at x.cpp:3:4)",
    ])
  func names(name: String) throws {
    for (open, close) in [("{", "}"), ("(", ")")] {
      let spelling = "\(open)\(name)=i\(close)"
      let type = try TypeEncoding(parsing: "^" + spelling)
      guard case .pointer(let pointee) = type.kind else { continue }
      #expect(pointee.members?.count == 1)
      #expect(type.description == "^" + spelling)
      switch pointee.kind {
      case .structure(let found, _), .union(let found, _): #expect(found == name)
      default: Issue.record("\(pointee) is no structure")
      }
    }
  }

  @Test(
    "an unbalanced bracket is an error at the first one without a partner",
    arguments: [
      ("{{}0", 1), ("{{}", 1), ("{{}}", 1), ("{{}=i}", 1), ("{[}=i}", 1), ("{a)=i}", 2),
      ("{a]=i}", 2), ("{a>=i}", 2), ("{a<b)>=i}", 4), ("{a(b]c)=i}", 4), ("(a}=i)", 2),
      ("{a<(b>)=i}", 5), ("{a<b>>=i}", 5), ("{S<&operator>>=i}", 13), ("{S<'}'>=i}", 4),
      ("{S<&Y::operator->>=i}", 17), ("{C<auto (int) -> int>=i}", 20),
    ])
  func unbalanced(spelling: String, offset: Int) {
    let error = #expect(throws: TypeEncodingError.self) { try TypeEncoding(parsing: spelling) }
    #expect(error?.reason == .unbalancedName)
    #expect(error?.offset == offset)
  }

  @Test(
    "a name with an unclosed bracket never ends", arguments: ["{a<b=i}", "{a(b=i}", "(a(b=i)"])
  func open(spelling: String) {
    let error = #expect(throws: TypeEncodingError.self) { try TypeEncoding(parsing: spelling) }
    guard case .unterminated = error?.reason else {
      #expect(error?.reason == .unbalancedName)
      return
    }
  }
}
