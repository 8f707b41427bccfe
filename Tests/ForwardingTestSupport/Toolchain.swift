import Foundation

/// The programs of the Swift toolchain, and what they need to know to read this package's modules.
public enum Toolchain {
  /// The path of a program of the toolchain, which may be the only one beside `swift` without a link.
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

  /// The top of the package.
  public static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Where the modules are that the tests were built with: beside the tests.
  private static var modules: String {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    while folder.path != "/" {
      let path = folder.appendingPathComponent("Modules").path
      if FileManager.default.fileExists(atPath: path) { return path }
      folder.deleteLastPathComponent()
    }
    return ""
  }

  /// The options with which the compiler finds the modules of this package.
  public static var moduleOptions: [String] {
    let map = package.appendingPathComponent("CShims/CallShims/include/module.modulemap").path
    return ["-I", modules, "-Xcc", "-fmodule-map-file=\(map)"]
  }

  /// Whether tests write their goldens anew.
  public static var records: Bool {
    ProcessInfo.processInfo.environment["RECORD_GOLDENS"] != nil
  }
}
