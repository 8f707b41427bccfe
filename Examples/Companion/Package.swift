// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
  name: "companion",
  dependencies: [.package(name: "swift-forwarding", path: "../..", traits: ["Macros"])],
  targets: [
    .target(
      name: "CallLog", dependencies: [.product(name: "Forwarding", package: "swift-forwarding")]),
    .executableTarget(
      name: "companion",
      dependencies: [
        "CallLog", .product(name: "ForwardingUndo", package: "swift-forwarding"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
