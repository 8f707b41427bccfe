// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The exit code of a command.
enum ExitCode: Int32 {
  case ok = 0
  /// The call could not be made, or a self-check failed.
  case failed = 1
  case usage = 64
  /// An encoding or a value could not be read.
  case badData = 65
  case `internal` = 70
}

/// The `forward` command: runs a subcommand by its name.
enum Tool {
  static let version = "0.1.0"

  static func run(_ arguments: [String]) -> ExitCode {
    do {
      switch arguments.first {
      case nil:
        Terminal.error(Help.overview)
        return .usage
      case "version", "--version": Terminal.out("forward \(version)")
      case "help", "--help", "-h":
        Terminal.out(
          try arguments.dropFirst().first.map { Help.text(for: try command($0)) } ?? Help.overview)
      case let name?: return try run(Options(Array(arguments.dropFirst()), for: command(name)))
      }
      return .ok
    } catch let error as UsageError {
      Terminal.error("forward: \(error.message)")
      Terminal.error("Run 'forward \(error.command.map { "\($0.rawValue) " } ?? "")--help'.")
      return .usage
    } catch let error as Failure {
      Terminal.error("forward: \(error.message)")
      return error.code
    } catch {
      Terminal.error("forward: \(error)")
      return .internal
    }
  }

  private static func command(_ name: String) throws(UsageError) -> Command {
    guard let command = Command(rawValue: name) else {
      let names = Command.allCases.map(\.rawValue)
      let all = "; there are \(names.joined(separator: ", "))"
      let hint = suggestion(for: name, among: names) ?? all
      throw UsageError(message: "there is no command '\(name)'\(hint)", command: nil)
    }
    return command
  }

  /// The end of a sentence about a name that does not exist; nil if no name is similar.
  static func suggestion(for name: String, among names: [String]) -> String? {
    let near = names.min { NearestName.distance(name, $0) < NearestName.distance(name, $1) }
    guard let near, NearestName.distance(name, near) <= 2 else { return nil }
    return "; did you mean '\(near)'?"
  }

  private static func run(_ options: Options) throws -> ExitCode {
    if options.flags.contains("--help") {
      Terminal.out(Help.text(for: options.command))
      return .ok
    }
    return switch options.command {
    case .explain: try ExplainCommand.run(options)
    case .call: try CallCommand.run(options)
    case .bench: try BenchCommand.run(options)
    case .doctor: try DoctorCommand.run(options)
    case .proxy: try ProxyCommand.run(options)
    case .journal: try JournalCommand.run(options)
    case .tour: try TourCommand.run(options)
    }
  }
}

/// The commands that take options.
enum Command: String, CaseIterable {
  case explain, call, doctor, bench, proxy, journal, tour
}

/// A command line that cannot be understood.
struct UsageError: Error {
  var message: String
  var command: Command?
}

/// A command that cannot be carried out.
struct Failure: Error {
  var code = ExitCode.failed
  var message: String
}

/// The arguments after a command's name: the flags that the command knows, and all others in order.
struct Options {
  private(set) var flags: Set<String> = []
  private(set) var values: [String: [String]] = [:]
  private(set) var positional: [String] = []
  let command: Command

  /// The flags without a value, and the flags with a value, of each command.
  private static func known(_ command: Command) -> (flags: Set<String>, values: Set<String>) {
    switch command {
    case .explain: (["--json", "--type"], ["--target"])
    case .call: (["--json", "--errno"], ["--fixed"])
    case .doctor: (["--json"], [])
    case .proxy: ([], ["--name"])
    case .journal: (["--json", "--follow", "--check"], ["--salvage"])
    case .bench: ([], ["--html"])
    case .tour: ([], [])
    }
  }

  init(_ arguments: [String], for command: Command) throws(UsageError) {
    self.command = command
    let known = Self.known(command)
    var rest = arguments[...]
    var onlyPositional = false
    while let argument = rest.popFirst() {
      // A number such as -5 is an argument: only `-h` and names with two dashes are flags.
      if onlyPositional || !(argument.hasPrefix("--") || argument == "-h") {
        positional.append(argument)
      } else if argument == "--" {
        onlyPositional = true
      } else if argument == "--help" || argument == "-h" {
        flags = ["--help"]
        return
      } else if known.flags.contains(argument) {
        flags.insert(argument)
      } else if known.values.contains(argument) {
        guard let value = rest.popFirst() else {
          throw fault("\(argument) needs a value behind it")
        }
        values[argument, default: []].append(value)
      } else {
        let names = known.flags.union(known.values).sorted()
        let hint = Tool.suggestion(for: argument, among: names) ?? ""
        throw fault("\(command.rawValue) has no option '\(argument)'\(hint)")
      }
    }
  }

  var isJSON: Bool { flags.contains("--json") }

  func fault(_ message: String) -> UsageError { UsageError(message: message, command: command) }
}
