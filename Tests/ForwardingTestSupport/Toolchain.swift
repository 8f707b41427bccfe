// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The programs of the Swift toolchain, and the options to compile with this package's modules.
public enum Toolchain {
  /// The path of a program of the toolchain. Only `swift` itself may be linked into PATH.
  public static func path(of tool: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    for folder in folders {
      let path = "\(folder)/\(tool)"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    for folder in folders {
      let swift = URL(fileURLWithPath: "\(folder)/swift").resolvingSymlinksInPath()
      let path = swift.deletingLastPathComponent().appendingPathComponent(tool).path
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    return nil
  }

  /// The root folder of the package.
  public static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The folder of a module's sources, below that of the package.
  public static func sources(of module: String) -> String {
    "Sources/\(module)"
  }

  /// The build folder: a folder above the tests that contains the modules.
  private static var build: URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    while folder.path != "/" {
      let path = folder.appendingPathComponent("Modules").path
      if FileManager.default.fileExists(atPath: path) { return folder }
      folder.deleteLastPathComponent()
    }
    return folder
  }

  /// The options with which the compiler finds the modules of this package.
  public static var moduleOptions: [String] {
    let modules = build.appendingPathComponent("Modules").path
    let maps = ["CallShims", "JournalShims", "SocketShims"].map {
      package.appendingPathComponent("CShims/\($0)/include/module.modulemap").path
    }
    return ["-I", modules] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
  }

  /// The options with which the compiler links a program with modules of this package: the objects
  /// that the tests were linked from, and the sanitizer of this test run.
  public static func linkOptions(for modules: [String]) throws -> [String] {
    let list = build.appendingPathComponent(
      "swift-forwardingPackageTests.product/Objects.LinkFileList")
    let objects = try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map {
      $0.trimmingCharacters(in: ["'", "\""])
    }
    return objects.filter { path in modules.contains { path.contains("/\($0).build/") } }
      + ["-lffi"] + (Sanitizer.current.map { ["-sanitize=\($0.rawValue)"] } ?? [])
  }

  /// The options with which the compiler finds the macros of this package. In a build for another
  /// machine the macros are in a folder beside it, as they run where the compiler does.
  public static var macroOptions: [String] {
    let scratch = build.deletingLastPathComponent().deletingLastPathComponent()
    let machines = (try? FileManager.default.contentsOfDirectory(atPath: scratch.path)) ?? []
    let folders =
      [build]
      + machines.sorted().map {
        scratch.appendingPathComponent($0).appendingPathComponent(build.lastPathComponent)
      }
    let plugins = folders.map { $0.appendingPathComponent("ForwardingMacros-tool").path }
    let plugin = plugins.first { FileManager.default.fileExists(atPath: $0) } ?? plugins[0]
    return ["-load-plugin-executable", "\(plugin)#ForwardingMacros"]
  }

  /// Whether tests rewrite their goldens.
  public static var records: Bool {
    ProcessInfo.processInfo.environment["RECORD_GOLDENS"] != nil
  }
}
