import Foundation
import ForwardingTestSupport
import Testing

/// The tool as a user runs it: arguments and input in, output, errors and exit code out.
struct Tool {
  static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> Finished {
    try run(arguments, bytes: Array(input.utf8), environment: environment)
  }

  static func run(
    _ arguments: [String], bytes: [UInt8], environment: [String: String] = [:]
  ) throws -> Finished {
    // Built beside the test bundle that is running.
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let tool = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(
      "forward")
    return try ForwardingTestSupport.run(
      tool.path, arguments, input: bytes, environment: environment)
  }

  static func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }
}

@Suite("forward explain")
struct ExplainTests {
  @Test("a signature as a table: type, size, alignment, offset, where it travels")
  func signature() throws {
    let result = try Tool.run(["explain", "v@:{CGRect={CGPoint=dd}{CGSize=dd}}i"])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    #expect(
      result.output == """
        v@:{CGRect={CGPoint=dd}{CGSize=dd}}i  method, 4 arguments, direct engine, frame of 176 bytes
                      type                              size  align  offset  travels in
          result      v                                    0      1          nowhere
          0 receiver  @                                    8      8       0  rdi
          1 selector  :                                    8      8       8  rsi
          2           {CGRect={CGPoint=dd}{CGSize=dd}}    32      8     144  stack+0
          3           i                                    4      4      16  rdx

        """)
  }

  @Test("one type, with its members")
  func type() throws {
    let result = try Tool.run(["explain", "--type", "{s=b0I3b3I5\"d\"d}"])
    #expect(result.status == 0)
    #expect(result.output.contains("16 bytes, aligned to 8"))
    #expect(result.output.contains("bit 3  5 bits"))
  }

  @Test("--json: size and alignment of a type, members and leaves")
  func typeJSON() throws {
    let object = try Tool.objects(Tool.run(["explain", "--type", "--json", "{s=ci}"]).output)[0]
    #expect(object["encoding"] as? String == "{s=ci}")
    #expect(object["size"] as? Int == 8)
    #expect(object["alignment"] as? Int == 4)
    #expect((object["fields"] as? [[String: Any]])?.map { $0["offset"] as? Int } == [0, 4])
    #expect(object["leaves"] as? [String] == ["i8@0", "i32@4"])
  }

  @Test("--json: arguments and result of a signature")
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

  @Test(
    "- reads a type from each line; a bad one is an object with its error, and the rest goes on")
  func stream() throws {
    let input = "i\n{P\n\nD\n{opaque}\nd"
    let result = try Tool.run(["explain", "--type", "--json", "-"], input: input)
    #expect(result.status == 65)
    let objects = try Tool.objects(result.output)
    #expect(objects.map { $0["size"] as? Int } == [4, nil, nil, 16, nil, 8])
    let errors = objects.map { ($0["error"] as? [String: Any])?["offset"] as? Int }
    #expect(errors == [nil, 2, 0, nil, 0, nil])
    #expect(
      objects.allSatisfy {
        ($0["error"] as? [String: Any])?["reason"] is String || $0["size"] != nil
      })
  }

  @Test("every x86-64-linux row of the table through the tool, in one run")
  func table() throws {
    let rows = try Table("encodings").rows.filter { $0["source"].contains("x86_64-linux") }
    let input = rows.map { $0["encoding"] }.joined(separator: "\n")
    let result = try Tool.run(["explain", "--type", "--json", "-"], input: input)
    #expect(result.status == 0)
    let objects = try Tool.objects(result.output)
    #expect(objects.count == rows.count)
    for (object, row) in zip(objects, rows) {
      #expect("\(object["size"] ?? "")" == row["size"])
      #expect("\(object["alignment"] ?? "")" == row["align"])
    }
  }

  @Test("input that is not UTF-8, holds NUL or never ends is refused line by line")
  func hostileInput() throws {
    var bytes = Array("i\n".utf8) + [0xFF, 0x0A, 0x69, 0x00, 0x0A]
    bytes += [UInt8](repeating: UInt8(ascii: "{"), count: 3_000_000) + Array("\nd\n".utf8)
    let result = try Tool.run(["explain", "--type", "--json", "-"], bytes: bytes)
    #expect(result.status == 65)
    let objects = try Tool.objects(result.output)
    #expect(objects.map { $0["size"] as? Int } == [4, nil, nil, nil, 8])
    #expect((objects[1]["error"] as? [String: Any])?["offset"] as? Int == 0)
    #expect((objects[2]["error"] as? [String: Any])?["offset"] as? Int == 1)
  }

  @Test("a registered layout")
  func layout() throws {
    let result = try Tool.run([
      "explain", "--type", "--json", "--layout", "packed=13,1,0,1,9", "{packed=cdi}",
    ])
    let object = try Tool.objects(result.output)[0]
    #expect(object["size"] as? Int == 13)
    #expect((object["fields"] as? [[String: Any]])?.map { $0["offset"] as? Int } == [0, 1, 9])
    #expect(try Tool.run(["explain", "--layout", "packed=13,2", "i"]).status == 64)
  }

  @Test("a signature that cannot be called is described all the same, with the reason")
  func unlayable() throws {
    let result = try Tool.run(["explain", "--json", "{?=b3b5}16@0:8"])
    #expect(result.status == 65)
    let object = try Tool.objects(result.output)[0]
    #expect((object["arguments"] as? [[String: Any]])?.map { $0["size"] as? Int } == [8, 8])
    #expect((object["result"] as? [String: Any])?["size"] is NSNull)
    #expect((object["error"] as? [String: Any])?["offset"] as? Int == 3)
    let text = try Tool.run(["explain", "v@:{opaque}"])
    #expect(text.status == 65)
    #expect(text.output.contains("cannot be called"))
    #expect(text.errors.hasPrefix("v@:{opaque}\n   ^ the body is not given"))
  }

  @Test("every row of method_types.tsv through the tool")
  func methodTypes() throws {
    let rows = try Table("method_types").rows
    let input = rows.map { $0["types"] }.joined(separator: "\n")
    let objects = try Tool.objects(Tool.run(["explain", "--json", "-"], input: input).output)
    #expect(objects.count == rows.count)
    for (object, row) in zip(objects, rows) {
      let arguments = object["arguments"] as? [[String: Any]] ?? []
      #expect("\(arguments.count)" == row["argument-count"])
      guard row["source"].contains("x86_64-linux") else { continue }
      let cells = arguments.map { argument in
        "\(argument["encoding"] ?? "") \(argument["size"] ?? "")/\(argument["alignment"] ?? "") "
          + "@\(argument["written"] ?? "")"
      }
      let column = "arguments (encoding size/align @advisory-offset; first two are self,_cmd)"
      #expect(cells.joined(separator: " ; ") == row[column])
    }
  }

  @Test("a fault is shown with a caret on standard error, exit code 65")
  func fault() throws {
    let result = try Tool.run(["explain", "v@:{_Point=dd"])
    #expect(result.status == 65)
    #expect(result.output.isEmpty)
    #expect(result.errors == "v@:{_Point=dd\n             ^ the structure is not closed with '}'\n")
  }
}

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
    (["libm.so.6", "sqrtl", "DD", "2"], "1.4142135623730950488\n"),
    (["libm.so.6", "floorf", "ff", "-0.5"], "-1\n"),
    (["libm.so.6", "log", "dd", "0"], "-inf\n"),
    (["libc.so.6", "getenv", "**", "NO_SUCH_VARIABLE_AT_ALL"], "null\n"),
    (["libc.so.6", "free", "v^v", "0"], ""),
    (["libc.so.6", "memcmp", "i^C^CQ", "[1,2,3]", "[1,2,3]", "3"], "0\n"),
    (
      ["--fixed", "1", "libc.so.6", "printf", "i*dci", "%.1f %c %d|", "2.25", "65", "7"],
      "2.2 A 7|8\n"
    ),
    (["", "labs", "qq", "-9223372036854775807"], "9223372036854775807\n"),
  ]

  @Test("any C function", arguments: samples)
  func calls(arguments: [String], output: String) throws {
    let result = try Tool.run(["call"] + arguments)
    #expect(result.output == output)
    #expect(result.errors.isEmpty)
    #expect(result.status == 0)
  }

  @Test("--json shows the result, errno, and what was written through pointers")
  func json() throws {
    let result = try Tool.run(["call", "--json", "libm.so.6", "frexp", "dd^i", "8", "[0]"])
    #expect(result.output == "{\"result\":0.5,\"errno\":0,\"arguments\":[8,[4]]}\n")
    let missing = try Tool.objects(
      Tool.run(["call", "--json", "libc.so.6", "open", "i*i", "/none", "0"]).output)[0]
    #expect(missing["errno"] as? Int == 2)
    #expect(missing["result"] as? Int == -1)
  }

  @Test("--errno on standard error")
  func errno() throws {
    let result = try Tool.run(["call", "--errno", "libc.so.6", "close", "ii", "-1"])
    #expect(result.output == "-1\n")
    #expect(result.errors == "errno 9 (Bad file descriptor)\n")
  }

  static let refusals: [([String], Int32)] = [
    (["libnone.so", "x", "v"], 1), (["libm.so.6", "no_such", "v"], 1),
    (["libc.so.6", "abort", "v"], 1), (["libc.so.6", "strlen", "Q^v", "0"], 1),
    ([], 64), (["libm.so.6", "pow"], 64), (["libm.so.6", "pow", "ddd", "2"], 64),
    (["libm.so.6", "pow", "ddd", "2", "3", "4"], 64), (["--nonsense"], 64),
    (["--fixed", "x", "libc.so.6", "printf", "i*", "a"], 64),
    (["libm.so.6", "pow", "dd{", "2", "3"], 65), (["libm.so.6", "pow", "ddx", "2", "3"], 65),
    (["libm.so.6", "pow", "ddd", "2", "three"], 65),
    (["libc.so.6", "abs", "ii", "3000000000"], 65),
    (["libc.so.6", "abs", "ii", "1.5"], 65), (["libc.so.6", "div", "{div_t=ii}ii", "1", ""], 65),
    (["libc.so.6", "inet_ntoa", "*{in_addr=I}", "[1,2]"], 65),
    (["libc.so.6", "free", "v^v", "12"], 65),
    (["libc.so.6", "abs", "v{opaque}", "1"], 65), (["libc.so.6", "abs", "iB", "2"], 65),
  ]

  @Test("exit codes: 1 the call failed, 64 usage, 65 bad encoding or value", arguments: refusals)
  func exitCodes(arguments: [String], code: Int32) throws {
    let result = try Tool.run(["call"] + arguments)
    #expect(result.status == code, "\(arguments)")
    #expect(!result.errors.isEmpty)
    #expect(result.output.isEmpty)
  }

  @Test("every kind of value goes in and comes back as it is written")
  func values() throws {
    let path = try CCompiler.system().library(
      """
      #include <complex.h>
      typedef struct { char a; short b[2]; struct { float x; double y; } in; } N;
      N nest(N n) { n.a++; n.b[1] *= 2; n.in.y += 0.5; return n; }
      typedef union { int i; float f; } U;
      U same(U u) { return u; }
      typedef struct { unsigned a : 3; int b : 5; _Bool c : 1; } B;
      B bits(B b) { b.a ^= 1; return b; }
      __int128 triple(__int128 v) { return v * 3; }
      unsigned __int128 most(void) { return ~(unsigned __int128)0; }
      float complex twice(float complex z) { return z * 2; }
      typedef struct { const char *name; int *p; } S;
      const char *name(S s) { return s.name; }
      typedef struct {} E;
      int empty(E e, int x) { return x; }
      """)
    let cases: [([String], String)] = [
      (
        ["nest", "{N=c[2s]{?=fd}}{N=c[2s]{?=fd}}", "[65,[1,2],[0.5,1.25]]"], "[66,[1,4],[0.5,1.75]]"
      ),
      (["same", "(U=if)(U=if)", "[1065353216]"], "[1065353216,1]"),
      (["bits", "{B=b0I3b3i5b8B1}{B=b0I3b3i5b8B1}", "[5,-3,true]"], "[4,-3,true]"),
      (["triple", "tt", "-170141183460469231731687303715"], "-510423550381407695195061911145"),
      (["most", "T"], "340282366920938463463374607431768211455"),
      (["twice", "jfjf", "[1.5,-2]"], "[3,-4]"), (["name", "*{S=*^i}", "[\"joe\",0]"], "joe"),
      (["empty", "i{E=}i", "[]", "7"], "7"),
    ]
    for (arguments, expected) in cases {
      let result = try Tool.run(["call", path] + arguments)
      #expect(result.output == expected + "\n", "\(arguments)")
      #expect(result.status == 0, "\(arguments)")
    }
  }

  @Test("a mistake in a value says what to write")
  func hints() throws {
    let range = try Tool.run(["call", "libc.so.6", "abs", "ii", "3000000000"])
    #expect(
      range.errors
        == "forward: 3000000000 is no value for i: an integer from -2147483648 to 2147483647 is expected\n"
    )
    let structure = try Tool.run(["call", "libc.so.6", "inet_ntoa", "*{in_addr=I}", "5"])
    #expect(structure.errors.contains("write a JSON array of 1 values"))
  }
}

@Suite("forward doctor, tour and help")
struct DoctorTests {
  @Test("doctor passes here, and says which libffi there is and what it gets wrong")
  func doctor() throws {
    let result = try Tool.run(["doctor"])
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("libffi"))
    #expect(result.output.contains("All 12 checks passed."))
  }

  @Test("doctor --json is one object")
  func doctorJSON() throws {
    let object = try Tool.objects(Tool.run(["doctor", "--json"]).output)[0]
    #expect(object["ok"] as? Bool == true)
    #expect((object["checks"] as? [[String: Any]])?.count == 12)
    #expect((object["libffi_faults"] as? [String: Any])?.count == 4)
    #expect(object["callback_memory"] is String)
  }

  @Test("tour runs to its end")
  func tour() throws {
    let result = try Tool.run(["tour"])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    for line in [
      "call.invoke(on: one)", "// 105", "^ the structure is not closed", "[9, 6, 5, 4, 3, 2, 1, 1]",
    ] {
      #expect(result.output.contains(line), "\(line)")
    }
  }

  @Test(
    "help is on standard output, examples first", arguments: ["explain", "call", "doctor", "tour"])
  func help(command: String) throws {
    let result = try Tool.run([command, "--help"])
    #expect(result.status == 0)
    #expect(result.output.hasPrefix("Example"))
    #expect(result.output.contains("Usage: forward \(command)"))
    #expect(try Tool.run(["help", command]).output == result.output)
  }

  @Test(
    "without a command, or with an unknown one: usage, 64",
    arguments: [[], ["frobnicate"], ["help", "nothing"]])
  func usage(arguments: [String]) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(!result.errors.isEmpty)
  }

  @Test(
    "no colors where the output is no terminal, with NO_COLOR or without", arguments: ["", "1"])
  func noColor(value: String) throws {
    for command in [["tour"], ["doctor"], ["explain", "v@:"]] {
      let result = try Tool.run(command, environment: ["NO_COLOR": value])
      #expect(!result.output.contains("\u{1B}"))
    }
  }
}

@Suite("forward bench")
struct BenchTests {
  @Test("a table, JSON and a page, each with the rows that were measured")
  func outputs() throws {
    let folder = FileManager.default.temporaryDirectory
    let json = folder.appendingPathComponent("bench-\(UUID()).json")
    let page = folder.appendingPathComponent("bench-\(UUID()).html")
    defer {
      try? FileManager.default.removeItem(at: json)
      try? FileManager.default.removeItem(at: page)
    }
    let result = try Tool.run(
      ["bench", "--rounds", "2", "--json", json.path, "--html", page.path])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: json)) as? [String: Any])
    let rows = try #require(report["rows"] as? [[String: Any]])
    #expect(rows.count >= 10)
    let text = try String(contentsOf: page, encoding: .utf8)
    for row in rows {
      let name = try #require(row["name"] as? String)
      #expect(result.output.contains(name))
      #expect(try #require(row["ns_min"] as? Double) > 0)
      #expect(text.contains(name.split(separator: "/").dropFirst().joined(separator: " / ")))
      if let baseline = row["baseline"] as? String {
        #expect(rows.contains { $0["name"] as? String == baseline })
        #expect(try #require(row["ratio"] as? Double) > 0)
      }
    }
    #expect(!text.contains("http"), "the page needs nothing from anywhere")
  }

  @Test("wrong options are refused, and a file that cannot be written is said")
  func refusals() throws {
    #expect(try Tool.run(["bench", "--rounds", "none"]).status == 64)
    #expect(try Tool.run(["bench", "--json"]).status == 64)
    #expect(try Tool.run(["bench", "extra"]).status == 64)
    let result = try Tool.run(["bench", "--rounds", "1", "--json", "/nowhere/at/all"])
    #expect(result.status == 1)
    #expect(result.errors.contains("cannot be written"))
  }
}
