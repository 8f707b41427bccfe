// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing
import TypeEncodings

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

  @Test(
    "on x86-64, a signature for AArch64 shows registers and stack, and no frame",
    .machine(.x86_64Linux))
  func ofAArch64Signature() throws {
    let result = try Tool.run([
      "explain", "--target", "aarch64-linux", "{V=qqq}@:{V=ddd}[2d]{S=qqq}tf",
    ])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    #expect(
      result.output == """
        {V=qqq}@:{V=ddd}[2d]{S=qqq}tf  method, 7 arguments, on aarch64-linux, 0 bytes of stack
                      type     size  align  offset  travels in
          result      {V=qqq}    24      8          memory (pointer in x8)
          0 receiver  @           8      8          x0
          1 selector  :           8      8          x1
          2           {V=ddd}    24      8          v0:v1:v2
          3           [2d]       16      8          x2
          4           {S=qqq}    24      8          address of a copy in x3
          5           t          16     16          x4:x5
          6           f           4      4          v3

        """)
  }

  /// Arguments, the exit code, and parts of the object that `explain --json` prints.
  typealias Facts = (arguments: [String], code: Int32, parts: [String])

  static let facts: [Facts] =
    [
      (
        ["--type", "{s=ci}"], 0,
        [
          #""encoding":"{s=ci}","size":8,"alignment":4"#, #""encoding":"c","offset":0,"size":1"#,
          #""encoding":"i","offset":4,"size":4"#,
        ]
      ),
      (
        ["i24@0:8i16c20"], 0,
        [
          #""engine":"direct""#, #""result":{"encoding":"i","size":4,"alignment":4"#,
          #""index":0,"encoding":"@","size":8"#, #""written":0"#,
          #""index":1,"encoding":":","size":8"#, #""written":8"#,
          #""index":2,"encoding":"i","size":4"#, #""written":16"#,
          #""index":3,"encoding":"c","size":1"#, #""written":20"#,
        ]
      ),
      // One that cannot be called.
      (
        ["{?=b3b5}16@0:8"], 65,
        [
          #""result":{"encoding":"{?=b3b5}","size":null"#, #""index":0,"encoding":"@","size":8"#,
          #""index":1,"encoding":":","size":8"#, #""offset":3}"#,
        ]
      ),
    ] + TestMachine.value(x86_64: [ofAArch64], aarch64: [])

  static let ofAArch64: Facts = (
    ["--target", "aarch64-linux", "{V=dd}qqqqqqqq{S=qqq}"], 0,
    [
      #""target":"aarch64-linux","engine":null,"frame":null,"stack":8"#,
      #""location":"v0:v1","written":null,"registers":["v0","v1"]"#,
      #""index":8,"encoding":"{S=qqq}","size":24,"alignment":8,"offset":null,"#
        + #""location":"address of a copy at stack+0","written":null,"registers":[],"stack":0,"copied":true"#,
    ]
  )

  @Test("--json has the same facts, of a type or a signature", arguments: facts)
  func json(_ arguments: [String], _ code: Int32, _ parts: [String]) throws {
    let result = try Tool.run(["explain", "--json"] + arguments)
    #expect(result.status == code)
    #expect(try Tool.objects(result.output).count == 1)
    for part in parts { #expect(result.output.contains(part), "\(result.output)") }
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
}
