// SPDX-License-Identifier: Apache-2.0
import Forwarding

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
    guard let name = arguments.first else {
      Terminal.error(Help.overview)
      return .usage
    }
    let rest = Array(arguments.dropFirst())
    do {
      switch name {
      case "explain": return try ExplainCommand.run(Options(rest, for: .explain))
      case "call": return try CallCommand.run(Options(rest, for: .call))
      case "bench": return try BenchCommand.run(Options(rest, for: .bench))
      case "doctor": return try DoctorCommand.run(Options(rest, for: .doctor))
      case "face": return try FaceCommand.run(Options(rest, for: .face))
      case "journal": return try JournalCommand.run(Options(rest, for: .journal))
      case "tour": return try TourCommand.run(Options(rest, for: .tour))
      case "help", "--help", "-h":
        return help(rest.first)
      case "version", "--version":
        Terminal.out("forward \(version)")
        return .ok
      default: throw UsageError(message: "there is no command '\(name)'", command: nil)
      }
    } catch let error as UsageError {
      if error.isHelp { return help(error.command?.rawValue) }
      Terminal.error("forward: \(error.message)")
      Terminal.error("Run 'forward \(error.command.map { "\($0.rawValue) " } ?? "")--help'.")
      return .usage
    } catch {
      Terminal.error("forward: \(error)")
      return .internal
    }
  }

  private static func help(_ command: String?) -> ExitCode {
    guard let command else {
      Terminal.out(Help.overview)
      return .ok
    }
    guard let known = Command(rawValue: command) else {
      Terminal.error("forward: there is no command '\(command)'")
      return .usage
    }
    Terminal.out(Help.text(for: known))
    return .ok
  }
}

/// The commands that take options.
enum Command: String {
  case explain, call, doctor, bench, face, journal, tour
}

/// A command line that cannot be understood, or that asks for help.
struct UsageError: Error {
  var message: String
  var command: Command?
  var isHelp = false
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
    case .explain: (["--json", "--type"], ["--layout", "--target"])
    case .call: (["--json", "--errno"], ["--fixed"])
    case .doctor: (["--json"], [])
    case .bench: ([], ["--json", "--rounds"])
    case .face: ([], ["--symbols", "--name"])
    case .journal: (["--json", "--follow", "--check"], ["--salvage"])
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
        throw UsageError(message: "", command: command, isHelp: true)
      } else if known.flags.contains(argument) {
        flags.insert(argument)
      } else if known.values.contains(argument) {
        guard let value = rest.popFirst() else { throw fault("\(argument) needs a value") }
        values[argument, default: []].append(value)
      } else {
        throw fault("there is no option '\(argument)'")
      }
    }
  }

  var isJSON: Bool { flags.contains("--json") }

  func fault(_ message: String) -> UsageError { UsageError(message: message, command: command) }
}
