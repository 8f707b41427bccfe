// SPDX-License-Identifier: Apache-2.0
/// The texts of `--help`, examples first.
enum Help {
  static let overview = """
    Type encodings, dynamic calls and forwarding for Swift.

      forward explain "v@:{CGRect={CGPoint=dd}{CGSize=dd}}i"    where every argument travels
      forward explain --type "{_Point=dd}"                      size, alignment, members
      forward call libm.so.6 pow ddd 2 10                       call any C function: 1024
      forward doctor                                            check this machine
      forward bench                                             what calls cost, beside closures
      forward face FoundationXML.XMLParserDelegate              a protocol of others, to paste
      forward journal bank.journal                              the calls of a journal
      forward serve unix:/tmp/shop                              an object for other processes
      forward send unix:/tmp/shop shop.shop price: d@:* tea     a message to one: 3.5
      forward tour                                              what the package does, in a minute

    Commands:
      explain   Explain a method signature, or one type
      call      Call a C function of a library
      doctor    Check libffi, the engines and callbacks on this machine
      bench     Measure calls against closures
      face      Restate a protocol of another module for '@Forwardable(as:)'
      journal   Show or check a journal of calls
      serve     Let other processes send to an example, and show their calls
      send      Send a message to an object of another process
      tour      A short narrated run

    'forward COMMAND --help' tells more. Exit codes: 0 ok, 1 the call or a check failed,
    64 usage, 65 bad encoding or value, 70 internal error. NO_COLOR is respected.
    """

  static func text(for command: Command) -> String {
    switch command {
    case .explain: explain
    case .call: call
    case .doctor: doctor
    case .bench: bench
    case .face: face
    case .journal: journal
    case .serve: serve
    case .send: send
    case .tour: tour
    }
  }

  private static let explain = """
    Examples:
      forward explain "i24@0:8i16i20"
      forward explain --type "{s=b0I3b3I5d}"
      forward explain --json "ddd"
      forward explain --type --layout packed=13,1,0,1,9 "{packed=cdi}"
      forward explain --target aarch64-linux "{V=ddd}@:{V=ddd}[2d]{S=qqq}"
      cat encodings.txt | forward explain --type --json -

    Usage: forward explain [--type] [--json] [--target MACHINE] [--layout NAME=SIZE,ALIGNMENT[,OFFSET…]]
                           ENCODING | -

    Explains a signature: each argument's type, size and alignment, its offset in the call's frame,
    where it travels, and which engine performs the call.

      --type     ENCODING is a single type; shows its size, alignment and members
      --json     one JSON object on a line
      --target   of another machine: aarch64-linux or x86_64-linux, and with --type arm64-macos too.
                 Shows its registers and stack, and what its rules ask about each value; offsets in
                 a frame are this machine's alone
      --layout   the true layout of a structure that its encoding cannot tell; may be repeated
      -          read one encoding from each line of standard input. A bad line gives an error of
                 its own (with --json, an object with "error") and the rest goes on; then the exit
                 code is 65. It is 1 if the input cannot be read
    """

  private static let call = """
    Examples:
      forward call libm.so.6 pow ddd 2 10                          1024
      forward call libc.so.6 strlen 'Q*' 'how long is this'        16
      forward call libc.so.6 div '{div_t=ii}ii' 17 5               [3,2]
      forward call libc.so.6 inet_ntoa '*{in_addr=I}' '[16777343]' 127.0.0.1
      forward call --json libm.so.6 frexp 'dd^i' 8 '[0]'           what it wrote, too
      forward call --fixed 1 libc.so.6 printf 'i*d' '%.2f\\n' 3.14159

    Usage: forward call [--json] [--errno] [--fixed N] LIBRARY SYMBOL ENCODING [ARGUMENT…]

    Calls SYMBOL of LIBRARY as ENCODING says: the result's type, then each argument's. An empty
    LIBRARY is this program with all it has loaded. A wrong encoding is undefined behavior.

    Numbers are written plainly, B as true or false, * as text, structures and arrays as nested
    JSON arrays ([1,[2,3]]), complex numbers as [re,im], a union as an array with a value for its
    first member, and pointers as 0 or 0x…. A pointer may also be a JSON array: its elements are
    put into memory, and with --json shown after the call.

      --json    {"result": …, "errno": …, "arguments": […]} on a line
      --errno   says on standard error which errno the function left
      --fixed   for a variadic function: how many arguments stand before its ...
    """

  private static let doctor = """
    Example:
      forward doctor

    Usage: forward doctor [--json]

    Shows which libffi is in use and which known faults it has (by trying them), which engine
    performs calls, and what kind of memory callbacks need; then makes calls that would go wrong if
    anything were broken. The exit code is 0 only if every check passes.
    """

  private static let bench = """
    Examples:
      forward bench
      forward bench --json calls.json --rounds 400

    Usage: forward bench [--json FILE] [--rounds N]

    Measures calls through this package against closures, all in this process, in a few seconds.
    The ratio is to the closure that does the same; a bar of ten cells is as slow as that. In a
    copy of the package, 'make bench' measures more, beside other libraries, and draws a page.

      --json     writes each row: its name, the best and the median time, and the ratio
      --rounds   how often each row is measured; 120 unless told otherwise
    """

  private static let face = """
    Examples:
      forward face FoundationXML.XMLParserDelegate
      forward face Chatter.RoomDelegate -I .build/debug/Modules
      forward face --symbols Chatter.symbols.json --name Rooms Chatter.RoomDelegate

    Usage: forward face [--symbols PATH]… [--name NAME] MODULE.PROTOCOL [OPTION…]

    Prints a protocol of another module as '@Forwardable(as:)' takes it, with its requirements and
    those that it inherits, to be pasted into a file of yours. The face of 'RoomDelegateList' is
    'RoomDelegateListProxy'. Where nobody may answer a requirement that has a result, there is
    '@Otherwise(<#Bool#>)': write the value in place of '<#Bool#>'. The compiler points at each one.

      --symbols  a symbol graph, or a folder of them, as the compiler's -emit-symbol-graph writes
                 them; may be repeated
      --name     what the protocol is called; its own name and 'List' unless told otherwise
      OPTION     without --symbols, for swift symbolgraph-extract: -I, -F, -sdk, -target, -Xcc. The
                 modules in .build/debug/Modules are found without one

    The exit code is 65 if there is no such module, and 1 if it has no such protocol, or one that no
    face can stand for.
    """

  private static let journal = """
    Examples:
      forward journal bank.journal
      forward journal --json bank.journal | jq .selector
      forward journal --check bank.journal
      forward journal --follow bank.journal
      forward journal --salvage rescued.journal bank.journal

    Usage: forward journal [--json] [--check | --follow | --salvage OUT] FILE

    Shows the calls of a journal, those of the files that were put aside first: number, time
    (at Greenwich), message, arguments, and what became of the call if that was recorded.

      --json     one JSON object on a line for each call
      --check    reads all and shows no call, but how many there are, and where the file is torn
      --follow   goes on with what is written from now on
      --salvage  writes each whole call, also behind damage, to a new journal, and says what is
                 left out; FILE stays as it is

    The exit code is 65 if the file is damaged or no journal; with --check it is 1 if it is torn,
    which the next one to write will mend.
    """

  private static let serve = """
    Examples:
      forward serve unix:/tmp/shop
      forward serve --json unix:/tmp/shop | jq .selector
      forward serve --as shop-2 nats://127.0.0.1:4222

    Usage: forward serve [--json] [--as NAME] [--count N] ADDRESS

    Exposes an example, a shop with a message of each kind of type, at unix:PATH or at a NATS server.
    Prints its messages with their encodings, and a line for each call: whether it is asked or told,
    who sends it, the arguments, and the result or the error. ^C ends what has begun, and prints
    statistics; a second one does not wait.

      --json    one JSON object on a line for the list, for each call, and for the statistics
      --as      the name that others send to; shop unless told otherwise
      --count   ends after so many calls

    NATS takes a tool that was built with it: swift build -c release --traits NATS --product forward
    """

  private static let send = """
    Examples:
      forward send unix:/tmp/shop shop.shop price: 'd@:*' tea
      forward send unix:/tmp/shop shop.shop volume: 'd@:{Box=ddd}' '[1,2,3]'
      forward send unix:/tmp/shop shop.shop order: \\
        '^{forward.Receipt}@:^{forward.Order}' '{"articles":{"tea":2}}'
      forward send --tell unix:/tmp/shop shop.shop restock:amount: 'v@:*i' tea 5
      forward send --ping --expect 3 nats://127.0.0.1:4222 chat.Room

    Usage: forward send [--json] [--tell] [--deadline SECONDS] ADDRESS NAME.INTERFACE SELECTOR
                        ENCODING [ARGUMENT…]
           forward send [--json] --ping [--expect N] [--deadline SECONDS] ADDRESS NAME.INTERFACE

    Sends a message to the object of that name at unix:PATH or nats://HOST:PORT, and prints the
    result. ENCODING has the types of the message, with @: behind the result's; the other process is
    never asked for them, and refuses others than its own.

    Numbers are written plainly, B as true or false, * as text, structures of numbers as nested JSON
    arrays ([1,[2,3]]), a [UInt8] (^{Swift.Array_Swift.UInt8_}) as 00ff7f, and any other Codable type
    of Swift (^{Module.Type}) as its JSON. Text cannot be missing (nil). What means nothing in another
    process is refused: pointers, objects, selectors, unions, bit-fields and long doubles.

      --json       {"result": …, "milliseconds": …} on a line, or an object with "error"
      --tell       awaits nothing: nobody hears what becomes of it. The message has no result
      --deadline   how long an answer is waited for; 5 seconds unless told otherwise
      --ping       asks who is there; the exit code is 1 if that is nobody, or less than --expect

    The exit code is 1 if there is no answer, or an error instead.
    """

  private static let tour = """
    Example:
      forward tour

    Usage: forward tour

    A short narrated run of what the package does.
    """
}
