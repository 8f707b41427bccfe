// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackageDescription

// Scripts/fuzz.sh builds this package, with compiler flags for coverage and for libFuzzer.

// The targets test what only this repository may call (`package`), so they are compiled under the
// name that SwiftPM gives the package in the folder above: that of the folder, as an identifier.
let owner = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent()
  .lastPathComponent.lowercased()
let packageName = String(owner.map { $0.isLetter || $0.isNumber ? $0 : "_" })

let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "swift-forwarding", path: "..")],
  targets: [
    // A link to Tests/FuzzTargets. The tests of the main package have a target of that name, and
    // a name must be unique in both packages together.
    .target(
      name: "FuzzObjects",
      dependencies: [
        "Forwarding", "Invocations", "TypeEncodings", "InvocationText", "ForwardingWire",
        "ForwardingJournal", "ForwardingRemote",
      ].map { .product(name: $0, package: "swift-forwarding") },
      packageAccess: false,
      swiftSettings: [
        .unsafeFlags(["-package-name", packageName]),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ]),
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzObjects"],
      swiftSettings: [.enableExperimentalFeature("Extern")],
      linkerSettings: [.linkedLibrary("stdc++"), .linkedLibrary("m")]),
  ],
  swiftLanguageModes: [.v6]
)
