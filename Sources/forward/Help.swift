// SPDX-License-Identifier: Apache-2.0
/// The texts of `--help`, examples first.
enum Help {
  static let overview = """
    Type encodings, dynamic calls and forwarding for Swift.

      forward explain "v@:{CGRect={CGPoint=dd}{CGSize=dd}}i"    where each argument is passed
      forward explain --type "{_Point=dd}"                      size, alignment, members
      forward call libm.so.6 pow ddd 2 10                       call any C function: 1024
      forward doctor                                            check this machine
      forward bench                                             measure calls against closures
      forward proxy FoundationXML.XMLParserDelegate             print a protocol for '@Forwardable(as:)'
      forward journal bank.journal                              show or check a journal of calls
      forward tour                                              see what the package does

    'forward COMMAND --help' shows its options. Exit codes: 0 ok, 1 the call or a check failed,
    64 usage, 65 bad encoding or value, 70 internal error. NO_COLOR is respected.
    """

  static func text(for command: Command) -> String {
    switch command {
    case .explain: explain
    case .call: call
    case .doctor: doctor
    case .bench: bench
    case .proxy: proxy
    case .journal: journal
    case .tour: tour
    }
  }

  private static let explain = """
    Examples:
      forward explain "i24@0:8i16i20"
      forward explain --type "{s=b0I3b3I5d}"
      forward explain --target aarch64-linux "{V=ddd}@:{V=ddd}[2d]{S=qqq}"
      cat encodings.txt | forward explain --type --json -

    Usage: forward explain [--type] [--json] [--target MACHINE] ENCODING | -

    Explains a signature: the size and alignment of each argument, the register or stack slot that
    it is passed in, and how the call is made.

      --type     ENCODING is a single type; shows its size, alignment and members
      --json     writes one JSON object on a line
      --target   another machine: aarch64-linux or x86_64-linux
      -          reads an encoding from each line of standard input; each wrong line gives an error,
                 and the exit code is 65
    """

  private static let call = """
    Examples:
      forward call libm.so.6 pow ddd 2 10                          1024
      forward call libc.so.6 strlen 'Q*' 'how long is this'        16
      forward call libc.so.6 div '{div_t=ii}ii' 17 5               [3,2]
      forward call libc.so.6 inet_ntoa '*{in_addr=I}' '[16777343]' 127.0.0.1
      forward call --json libm.so.6 frexp 'dd^i' 8 '[0]'           what it wrote, too
      forward call --fixed 1 libc.so.6 printf 'i*d' $'%.2f\\n' 3.14159

    Usage: forward call [--json] [--errno] [--fixed N] LIBRARY SYMBOL ENCODING [ARGUMENT…]

    Calls the function SYMBOL of LIBRARY. ENCODING has the type of the result, then of each
    argument. It must be that of the function: a wrong one is undefined behavior. An empty LIBRARY
    is this program with all that it has loaded.

    Numbers are written plainly, B as true or false, * as text, structures and arrays as nested
    JSON arrays ([1,[2,3]]), complex numbers as [re,im], a union as an array with a value for its
    first member, and pointers as 0 or 0x…. A pointer may also be a JSON array: its elements are
    put into memory, and --json shows them after the call.

      --json    writes {"result": …, "errno": …, "arguments": […]} on a line
      --errno   writes the errno after the call to standard error
      --fixed   for a variadic function: the number of arguments before its ...
    """

  private static let doctor = """
    Example:
      forward doctor

    Usage: forward doctor [--json]

    Shows the installed libffi, how calls are made, and the memory of callbacks. Then makes calls
    with known results. The exit code is 0 only if every check passes.

      --json   writes one JSON object on a line
    """

  private static let bench = """
    Examples:
      forward bench
      forward bench --html bench.html

    Usage: forward bench [--html FILE]

    Measures calls through this package in less than a second: nanoseconds for one call, and how
    many times longer it takes than a closure in a local variable (/local), a closure in a property
    of a class (/property), and the same written by hand (/by hand). In a clone of the package,
    'make bench' measures more, with other libraries.

      --html   writes a page with charts, too
    """

  private static let proxy = """
    Examples:
      forward proxy FoundationXML.XMLParserDelegate
      forward proxy Chatter.RoomDelegate -I .build/debug/Modules
      forward proxy --name Rooms Chatter.RoomDelegate

    Usage: forward proxy [--name NAME] MODULE.PROTOCOL [OPTION…]

    Prints a protocol of another module in the form for '@Forwardable(as:)', with its requirements
    and those that it inherits. Paste it into a file of your program. Replace each placeholder, such
    as '<#Bool#>' in '@Otherwise(<#Bool#>)', by the result that is used without targets.

      --name   the name of the new protocol; without it, the protocol's own name and 'List'
      OPTION   an option of swift symbolgraph-extract: -I, -F, -sdk, -target, -Xcc. The modules in
               .build/debug/Modules are found without one

    The exit code is 65 if there is no such module, and 1 if there is no such protocol, or if no
    class can conform to it by forwarding.
    """

  private static let journal = """
    Examples:
      forward journal bank.journal
      forward journal --json bank.journal | jq .selector
      forward journal --check bank.journal
      forward journal --follow bank.journal
      forward journal --salvage rescued.journal bank.journal

    Usage: forward journal [--json] [--check | --follow | --salvage OUT] FILE

    Shows the calls of a journal, oldest first and with those in its rotated files: number, time
    in UTC, message and arguments.

      --json     one JSON object on a line for each call
      --check    reads all calls, and shows only their numbers and whether the file is whole
      --follow   then waits for new calls and shows them, until you stop it
      --salvage  copies the calls that can be read to the new journal OUT, and says which are
                 missing; FILE is not changed

    The exit code is 65 if the file is damaged or is not a journal. With --check, it is 1 if the
    last call was not written to its end; the next program that opens the journal repairs that.
    """

  private static let tour = """
    Example:
      forward tour

    Usage: forward tour

    A short narrated run of what the package does.
    """
}
