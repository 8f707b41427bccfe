// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Scripts/fuzz.sh builds this package, with compiler flags for coverage and for libFuzzer.
let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "swift-forwarding", path: "..")],
  targets: [
    .executableTarget(
      name: "fuzz",
      dependencies: [.product(name: "_FuzzTargets", package: "swift-forwarding")],
      swiftSettings: [.enableExperimentalFeature("Extern")],
      linkerSettings: [.linkedLibrary("stdc++"), .linkedLibrary("m")])
  ],
  swiftLanguageModes: [.v6]
)
