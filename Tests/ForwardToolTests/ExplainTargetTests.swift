// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing
import TypeEncodings

@Suite("forward explain --target")
struct ExplainTargetTests {
  @Test(
    "on x86-64, a signature for AArch64 shows registers and stack, and no frame",
    .machine(.x86_64Linux))
  func signature() throws {
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

  @Test("on x86-64, --json has the same facts of AArch64 as the table", .machine(.x86_64Linux))
  func signatureJSON() throws {
    let arguments = ["explain", "--json", "--target", "aarch64-linux", "{V=dd}qqqqqqqq{S=qqq}"]
    let object = try Tool.objects(Tool.run(arguments).output)[0]
    #expect(object["target"] as? String == "aarch64-linux")
    #expect(object["stack"] as? Int == 8)
    #expect(object["frame"] is NSNull && object["engine"] is NSNull)
    let result = try #require(object["result"] as? [String: Any])
    #expect(result["registers"] as? [String] == ["v0", "v1"])
    let last = try #require((object["arguments"] as? [[String: Any]])?.last)
    #expect(last["copied"] as? Bool == true)
    #expect(last["stack"] as? Int == 0)
    #expect(last["registers"] as? [String] == [])
    #expect(last["offset"] is NSNull)
    #expect(last["location"] as? String == "address of a copy at stack+0")
  }
}
