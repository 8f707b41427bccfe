// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("forward call")
struct CallTests {
  static let samples: [([String], String)] = [
    (["libm.so.6", "pow", "ddd", "2", "10"], "1024\n"),
    (["libc.so.6", "strlen", "Q*", "how long is this"], "16\n"),
    (["libc.so.6", "div", "{div_t=ii}ii", "17", "5"], "[3,2]\n"),
    (["libc.so.6", "abs", "ii", "-5"], "5\n"),
    (["libc.so.6", "inet_ntoa", "*{in_addr=I}", "[16777343]"], "127.0.0.1\n"),
    (["libc.so.6", "toupper", "ii", "0x61"], "65\n"),
    (["libm.so.6", "cabs", "djd", "[3,4]"], "5\n"),
    (
      ["libm.so.6", "sqrtl", "DD", "2"],
      TestMachine.value(
        x86_64: "1.4142135623730950488\n", aarch64: "1.414213562373095048801688724209698\n")
    ),
    (["libm.so.6", "floorf", "ff", "-0.5"], "-1\n"),
    (["libm.so.6", "log", "dd", "0"], "-inf\n"),
    (["libc.so.6", "getenv", "**", "NO_SUCH_VARIABLE_AT_ALL"], "null\n"),
    (["libc.so.6", "free", "v^v", "0"], ""),
    (["libc.so.6", "memcmp", "i^C^CQ", "[1,2,3]", "[1,2,3]", "3"], "0\n"),
    (
      ["--fixed", "1", "libc.so.6", "printf", "i*dci", "%.1f %c %d|", "2.25", "65", "7"],
      "2.2 A 7|8\n"
    ),
    (["--fixed", "1", "libc.so.6", "printf", "i*f", "%.17g|", "0.1"], "0.10000000149011612|20\n"),
    (["", "labs", "qq", "-9223372036854775807"], "9223372036854775807\n"),
    // With the values that were written through pointers, and errno.
    (
      ["--json", "libm.so.6", "frexp", "dd^i", "8", "[0]"],
      "{\"result\":0.5,\"errno\":0,\"arguments\":[8,[4]]}\n"
    ),
    (
      ["--json", "libc.so.6", "open", "i*i", "/none", "0"],
      "{\"result\":-1,\"errno\":2,\"arguments\":[\"/none\",0]}\n"
    ),
  ]

  @Test("any C function can be called", arguments: samples)
  func calls(arguments: [String], output: String) throws {
    let result = try Tool.run(["call"] + arguments)
    #expect(result.output == output)
    #expect(result.errors.isEmpty)
    #expect(result.status == 0)
  }

  @Test("--errno prints the error number to standard error")
  func errno() throws {
    let result = try Tool.run(["call", "--errno", "libc.so.6", "close", "ii", "-1"])
    #expect(result.output == "-1\n")
    #expect(result.errors == "errno 9 (Bad file descriptor)\n")
  }

  @Test("the output of the tool on its page is the output of the tool")
  func toolOutput() throws {
    let page = try String(
      contentsOf: Toolchain.package.appending(path: "Documentation/Tool.md"), encoding: .utf8)
    // The page shows the registers of x86-64.
    let explained = [["explain", "v@:{CGRect={CGPoint=dd}{CGSize=dd}}i"]]
    for arguments in TestMachine.value(x86_64: explained, aarch64: []) + [
      ["call", "libm.so.6", "pow", "ddd", "2", "10"],
      ["call", "libc.so.6", "div", "{div_t=ii}ii", "17", "5"],
    ] {
      #expect(page.contains(try Tool.run(arguments).output), "\(arguments)")
    }
  }
}
