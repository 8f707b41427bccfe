// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Built by Scripts/fuzz.sh, which asks the compilers to count what runs.

/// The library of libFuzzer without a `main`, from the folder of the running toolchain.
let fuzzer: String = {
  // The manifest's own library is loaded from <toolchain>/usr/lib/swift/pm/ManifestAPI.
  let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
  let library = maps.split(separator: "\n").first { $0.contains("libPackageDescription.so") }
  let path = library?.split(separator: " ").last.map(String.init) ?? "/usr/lib/swift/pm/x/y"
  let lib = path.components(separatedBy: "/swift/pm/")[0]
  let versions = (try? FileManager.default.contentsOfDirectory(atPath: lib + "/clang")) ?? []
  let places = versions.sorted().map {
    "\(lib)/clang/\($0)/lib/linux/libclang_rt.fuzzer_no_main-x86_64.a"
  }
  return places.last(where: FileManager.default.fileExists) ?? "libclang_rt.fuzzer_no_main-x86_64.a"
}()

let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "swift-forwarding", path: "..")],
  targets: [
    .executableTarget(
      name: "fuzz",
      dependencies: [.product(name: "_FuzzTargets", package: "swift-forwarding")],
      swiftSettings: [.treatAllWarnings(as: .error), .enableExperimentalFeature("Extern")],
      linkerSettings: [
        .unsafeFlags(["-Xlinker", fuzzer]), .linkedLibrary("stdc++"), .linkedLibrary("m"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
