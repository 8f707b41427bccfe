// SPDX-License-Identifier: Apache-2.0
import Testing
import TypeEncodings

@Suite("Method signatures")
struct MethodSignatureTests {
  @Test("an index out of range is refused", arguments: [-1, 4, Int.max, Int.min])
  func index(index: Int) throws {
    let signature = try MethodSignature(parsing: "i@:ii")
    let error = #expect(throws: SignatureIndexError.self) { try signature.argumentType(at: index) }
    #expect(error == SignatureIndexError(index: index, count: 4))
    #expect("\(error!)" == "argument \(index) was asked for, but the arguments are 0 to 3")
  }

  @Test(
    "equality and hash are structural",
    arguments: [
      ("v@:", "v16@0:8", true), ("v@:@", "v@:@\"X\"", true), ("v@:@?", "v@:@?<v@?>", true),
      ("v@:r^i", "v@:^ri", true), ("{a=dd}@:", "{b=dd}@:", true), ("Vv@:", "v@:", true),
      ("v@:^{S}", "v@:^{S=ii}", true), ("v@:l", "v@:q", true),
      ("{a=ii}@:", "{b=ff}@:", false), ("v@:i", "v@:I", false), ("v@:@", "v@:#", false),
      ("v@:@", "v@:@?", false), ("v@:", "v@:@", false), ("i@:", "v@:", false),
      ("v@:ii", "v@:{a=ii}", false),
    ])
  func equality(one: String, other: String, areEqual: Bool) throws {
    let (left, right) = (try MethodSignature(parsing: one), try MethodSignature(parsing: other))
    #expect((left == right) == areEqual)
    if areEqual { #expect(left.hashValue == right.hashValue) }
    if areEqual { #expect(left.canonicalSpelling == right.canonicalSpelling) }
  }

  @Test(
    "blocks and plain functions have signatures",
    arguments: [
      ("v8@?0", MethodSignature.Shape.block, 1, 0), ("ddd", .function, 2, 2),
      ("v", .function, 0, 0),
      ("v@", .function, 1, 1), ("v@:", .method, 2, 0), ("@::", .function, 2, 2),
      ("@#:", .method, 2, 0),
      ("i@?ii", .block, 3, 2),
    ])
  func shapes(spelling: String, shape: MethodSignature.Shape, count: Int, declared: Int) throws {
    let signature = try MethodSignature(parsing: spelling)
    #expect(signature.shape == shape)
    #expect(signature.numberOfArguments == count)
    #expect(signature.numberOfDeclaredArguments == declared)
  }

  @Test("only a method's signature is accepted", arguments: ["v", "v@", "@:", "v:@", "d@d"])
  func strictMethod(spelling: String) {
    let error = #expect(throws: TypeEncodingError.self) { try MethodSignature(method: spelling) }
    #expect(error?.reason == .notAMethod)
  }

  @Test(
    "names of types are answered with their encodings",
    arguments: [
      ("int int int", "int int int", "iii"), ("double(double, double)", nil, "ddd"),
      ("double(void)", nil, "d"), ("long double (long long)", nil, "Dq"), ("int size", "int", "i"),
      ("double(const char *)", "double", "d"),
    ] as [(String, String?, String)])
  func names(text: String, name: String?, encoding: String) {
    let error = #expect(throws: TypeEncodingError.self) { try MethodSignature(parsing: text) }
    #expect(error?.reason == .nameOfType(name: name ?? text, encoding: encoding))
  }

  @Test("a selector has a colon for each declared argument")
  func arity() throws {
    _ = try MethodSignature(method: "v@:ii", selector: "add:to:")
    let error = #expect(throws: TypeEncodingError.self) {
      // clang writes nothing for a vector argument.
      try MethodSignature(method: "v@:i", selector: "move:along:")
    }
    #expect(error?.reason == .selectorArity(selector: "move:along:", colons: 2, arguments: 1))
  }

  @Test(
    "oneway is a letter on the result",
    arguments: [("Vv16@0:8", true), ("rVv@:", true), ("v16@0:8", false), ("v@:Vi", false)])
  func oneway(spelling: String, expected: Bool) throws {
    #expect(try MethodSignature(parsing: spelling).isOneway == expected)
  }
}
