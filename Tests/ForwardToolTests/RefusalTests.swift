// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing

@Suite("What the tool refuses")
struct RefusalTests {
  /// The arguments after a command, its exit code, and a part of what it says on standard error.
  typealias Row = (arguments: [String], code: Int32, errors: String)

  /// 1: what was asked for failed.
  static let failures: [Row] = [
    (["call", "libnone.so", "x", "v"], 1, "libnone.so"),
    (["call", "libm.so.6", "no_such", "v"], 1, "no_such"),
    (["call", "libc.so.6", "strlen", "Q^v", "0"], 1, ""), (["journal", "/nowhere"], 1, "/nowhere"),
  ]

  /// 64: no such command, option or number of values.
  static let misuses: [Row] = [
    ([], 64, ""), (["frobnicate"], 64, "'frobnicate'; there are explain, call, "),
    (["bnech"], 64, "there is no command 'bnech'; did you mean 'bench'?"),
    (["help", "nothing"], 64, "nothing"), (["doctor", "x"], 64, ""), (["tour", "--json"], 64, ""),
    (["journal", "--jsno", "a"], 64, "journal has no option '--jsno'; did you mean '--json'?"),
    (["journal"], 64, ""), (["journal", "--check", "--follow", "a"], 64, ""),
    (["journal", "--salvage", "b", "--check", "a"], 64, ""),
    (["explain", "--target", "sparc", "v"], 64, "x86_64-linux, aarch64-linux"),
    (["explain", "--type", "--target", "", "i"], 64, "x86_64-linux, aarch64-linux"),
    (["explain", "v", "--target"], 64, "--target needs a value"), (["call"], 64, ""),
    (["call", "libm.so.6", "pow"], 64, ""), (["call", "libm.so.6", "pow", "ddd", "2"], 64, ""),
    (["call", "libm.so.6", "pow", "ddd", "2", "3", "4"], 64, ""), (["call", "--nonsense"], 64, ""),
    (["call", "--fixed", "x", "libc.so.6", "printf", "i*", "a"], 64, ""),
  ]

  /// 65: a bad encoding or value. A fault of an encoding has a caret at its place.
  static let badValues: [Row] = [
    (
      ["explain", "v@:{_Point=dd"], 65,
      "the structure is not closed with '}'\nv@:{_Point=dd\n             ^\n"
    ),
    (["call", "libm.so.6", "pow", "dd{", "2", "3"], 65, "^"),
    (["call", "libm.so.6", "pow", "ddx", "2", "3"], 65, "^"),
    (["call", "libm.so.6", "pow", "ddd", "2", "three"], 65, "three"),
    (["call", "libm.so.6", "log", "dd", "1e999"], 65, "1e999"),
    (
      ["call", "libc.so.6", "abs", "ii", "3000000000"], 65,
      "forward: 3000000000 does not fit Int32 (i): an integer from -2147483648 to 2147483647 is expected\n"
    ),
    (["call", "libc.so.6", "abs", "ii", "1.5"], 65, "1.5"),
    (["call", "libc.so.6", "div", "{div_t=ii}ii", "1", ""], 65, ""),
    (["call", "libc.so.6", "inet_ntoa", "*{in_addr=I}", "[1,2]"], 65, ""),
    (
      ["call", "libc.so.6", "inet_ntoa", "*{in_addr=I}", "5"], 65,
      "write a JSON array of 1 value\n"
    ),
    (["call", "libc.so.6", "free", "v^v", "12"], 65, ""),
    (["call", "libc.so.6", "abs", "v{opaque}", "1"], 65, ""),
    (["call", "libc.so.6", "abs", "iB", "2"], 65, ""),
  ]

  @Test(
    "a refusal prints nothing but its reason, on standard error, and has an exit code of its kind",
    arguments: failures + misuses + badValues)
  func refused(_ arguments: [String], _ code: Int32, _ errors: String) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == code && result.output.isEmpty)
    #expect(!result.errors.isEmpty && result.errors.contains(errors), "\(result.errors)")
  }

  @Test(
    "a function that ends the process is a failure",
    .notEmulated("the emulator ends an aborted program itself"))
  func aborts() throws { try refused(["call", "libc.so.6", "abort", "v"], 1, "") }

  @Test(
    "a signature that cannot be called is described, with the reason and its place",
    arguments: [
      (["v@:{opaque}"], "the members are not given", "\nv@:{opaque}\n   ^\n"),
      (
        ["--target", "aarch64-linux", "vi{S=Af}"], "compilers may pass this structure by value",
        "\nvi{S=Af}\n     ^\n"
      ),
    ])
  func uncallable(_ arguments: [String], _ reason: String, _ place: String) throws {
    let result = try Tool.run(["explain"] + arguments)
    #expect(result.status == 65 && result.output.contains("cannot be called"))
    #expect(result.errors.hasPrefix(reason) && result.errors.hasSuffix(place))
  }
}
