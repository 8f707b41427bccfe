// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
  name: "benchmark",
  dependencies: [.package(path: "../PythonKit")],
  targets: [
    .executableTarget(
      name: "benchmark", dependencies: [.product(name: "PythonKit", package: "PythonKit")])
  ],
  swiftLanguageModes: [.v5])
