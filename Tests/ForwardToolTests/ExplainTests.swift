// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("forward explain")
struct ExplainTests {
  @Test("a signature is a table: type, size, alignment, offset, and the place in a call")
  func signature() throws {
    let result = try Tool.run(["explain", "v@:{CGRect={CGPoint=dd}{CGSize=dd}}i"])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    let expected = TestMachine.value(
      x86_64: """
        v@:{CGRect={CGPoint=dd}{CGSize=dd}}i  method, 4 arguments, on x86_64-linux, 32 bytes of stack, direct engine, frame of 176 bytes
                      type                              size  align  offset  travels in
          result      v                                    0      1          nowhere
          0 receiver  @                                    8      8       0  rdi
          1 selector  :                                    8      8       8  rsi
          2           {CGRect={CGPoint=dd}{CGSize=dd}}    32      8     144  stack+0
          3           i                                    4      4      16  rdx

        """,
      aarch64: """
        v@:{CGRect={CGPoint=dd}{CGSize=dd}}i  method, 4 arguments, on aarch64-linux, 0 bytes of stack, direct engine, frame of 256 bytes
                      type                              size  align  offset  travels in
          result      v                                    0      1          nowhere
          0 receiver  @                                    8      8       0  x0
          1 selector  :                                    8      8       8  x1
          2           {CGRect={CGPoint=dd}{CGSize=dd}}    32      8      64  v0:v1:v2:v3
          3           i                                    4      4      16  x2

        """)
    #expect(result.output == expected)
  }

  @Test(
    "a type is shown with its layout and members, of this machine or of another one",
    arguments: [
      (["{s=b0I3b3I5\"d\"d}"], ["16 bytes, aligned to 8", "bit 3  5 bits"]),
      (["--target", "aarch64-linux", "{s=cD}"], ["32 bytes, aligned to 16, on aarch64-linux\n"]),
      (["--target", "x86_64-linux", "{s=cD}"], ["32 bytes, aligned to 16, on x86_64-linux\n"]),
    ])
  func type(_ arguments: [String], _ texts: [String]) throws {
    let result = try Tool.run(["explain", "--type"] + arguments)
    #expect(result.status == 0 && texts.allSatisfy(result.output.contains), "\(result.output)")
  }

  @Test("--json has the size and alignment of a type, and its members")
  func typeJSON() throws {
    let object = try Tool.objects(Tool.run(["explain", "--type", "--json", "{s=ci}"]).output)[0]
    #expect(object["encoding"] as? String == "{s=ci}")
    #expect(object["size"] as? Int == 8)
    #expect(object["alignment"] as? Int == 4)
    #expect((object["fields"] as? [[String: Any]])?.map { $0["offset"] as? Int } == [0, 4])
  }

  @Test("--json has the arguments and the result of a signature")
  func signatureJSON() throws {
    let object = try Tool.objects(Tool.run(["explain", "--json", "i24@0:8i16c20"]).output)[0]
    let arguments = try #require(object["arguments"] as? [[String: Any]])
    #expect(arguments.map { $0["encoding"] as? String } == ["@", ":", "i", "c"])
    #expect(arguments.map { $0["size"] as? Int } == [8, 8, 4, 1])
    #expect(arguments.map { $0["written"] as? Int } == [0, 8, 16, 20])
    let result = try #require(object["result"] as? [String: Any])
    #expect(result["encoding"] as? String == "i")
    #expect(result["alignment"] as? Int == 4)
    #expect(object["engine"] as? String == "direct")
  }

  /// Lines, the size of the type in each, and the offset of the error in the others.
  static let inputs: [(bytes: [UInt8], sizes: [Int?], errors: [Int?])] = [
    (
      Array("i\n{P\n\nD\n{opaque}\nd".utf8), [4, nil, nil, 16, nil, 8], [nil, 2, 0, nil, 0, nil]
    ),
    // What is not UTF-8, contains NUL or is too long.
    (
      Array("i\n".utf8) + [0xFF, 0x0A, 0x69, 0x00, 0x0A]
        + [UInt8](repeating: UInt8(ascii: "{"), count: 3_000_000) + Array("\nd\n".utf8),
      [4, nil, nil, nil, 8], [nil, 0, 1, 65_536, nil]
    ),
  ]

  @Test(
    "- reads a type from each line; an invalid one is an object with its error", arguments: [0, 1])
  func stream(_ row: Int) throws {
    let (bytes, sizes, offsets) = Self.inputs[row]
    let result = try Tool.run(["explain", "--type", "--json", "-"], bytes: bytes)
    #expect(result.status == 65)
    let objects = try Tool.objects(result.output)
    #expect(objects.map { $0["size"] as? Int } == sizes)
    let errors = objects.map { $0["error"] as? [String: Any] }
    #expect(zip(errors, sizes).allSatisfy { ($0?["reason"] is String) == ($1 == nil) })
    #expect(errors.map { $0?["offset"] as? Int } == offsets)
  }

  @Test("input that cannot be read is an error, with the reason and exit code 1")
  func unreadableInput() throws {
    let result = try ForwardingTestSupport.run(
      "/bin/sh", ["-c", "exec \"$0\" explain - < /", Tool.program.path])
    #expect(result.status == 1)
    #expect(result.output.isEmpty)
    #expect(result.errors == "forward: the input cannot be read: Is a directory\n")
  }

  @Test("a signature that cannot be called is described, with the reason")
  func unlayable() throws {
    let result = try Tool.run(["explain", "--json", "{?=b3b5}16@0:8"])
    #expect(result.status == 65)
    let object = try Tool.objects(result.output)[0]
    #expect((object["arguments"] as? [[String: Any]])?.map { $0["size"] as? Int } == [8, 8])
    #expect((object["result"] as? [String: Any])?["size"] is NSNull)
    #expect((object["error"] as? [String: Any])?["offset"] as? Int == 3)
  }
}
