// swift-tools-version: 6.2
import PackageDescription

// Built by Scripts/fuzz.sh, which asks the compilers to count what runs, and links libFuzzer.
let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "swift-forwarding", path: "..")],
  targets: [
    .executableTarget(
      name: "fuzz",
      dependencies: [.product(name: "_FuzzTargets", package: "swift-forwarding")],
      swiftSettings: [.treatAllWarnings(as: .error), .enableExperimentalFeature("Extern")],
      linkerSettings: [.linkedLibrary("stdc++"), .linkedLibrary("m")])
  ],
  swiftLanguageModes: [.v6]
)
