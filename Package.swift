// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import CompilerPluginSupport
import Foundation
import PackageDescription

// Every Swift target opts in to the same checks; an exception needs a comment. Warnings are errors by
// the flags of `make` (Scripts/strict.flags), not here: a new warning of a later compiler must not
// break a program that depends on the package. Memory safety is checked in debug builds only, which
// every contributor makes: a release build may be unchecked (`-Ounchecked`), and the compiler does
// not allow the two together.
let checks: [SwiftSetting] = [
  .strictMemorySafety(.when(configuration: .debug)),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// The linker keeps each public function, and with one function all others of its file.
// `-internalize-at-link` lets it drop public functions that a program does not use, and
// `-function-sections` gives each function a section of its own. Neither changes code, nor the
// symbols of a dynamic library. They are options of one compiler, so they depend on the trait that
// does, too: a program with macros is built with the toolchain that the macros come from.
// Documentation/Internals/Price.md has the bytes.
let droppable: [SwiftSetting] = [
  .unsafeFlags(
    ["-Xfrontend", "-internalize-at-link", "-Xfrontend", "-function-sections"],
    .when(platforms: [.linux], configuration: .release, traits: ["Macros"]))
]

// Test bodies handle raw frames and C fixtures on every other line, so `unsafe` marks are checked
// only in Sources, where they protect users.
let testChecks: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let cChecks: [CSetting] = [
  .define("_GNU_SOURCE", .when(platforms: [.linux])),
  .enableWarning("all"),
  .enableWarning("extra"),
]

// The folder of the toolchain's own SwiftSyntax, which the trait `Macros` builds the macros with.
// It is found beside the library that loads this manifest.
let hostLibraries: String = {
  let maps = fopen("/proc/self/maps", "r")
  defer { maps.map { _ = fclose($0) } }
  var bytes = [CChar](repeating: 0, count: 8192)
  while let maps, fgets(&bytes, Int32(bytes.count), maps) != nil {
    let line = String(
      decoding: bytes.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    guard line.hasSuffix("/libPackageDescription.so\n"), let start = line.firstIndex(of: "/"),
      let end = line.range(of: "/lib/swift/")?.upperBound
    else { continue }
    return line[start..<end] + "host"
  }
  return "/usr/lib/swift/host"
}()

let package = Package(
  name: "swift-forwarding",
  products: [
    .library(name: "Forwarding", targets: ["Forwarding"]),
    .library(name: "Invocations", targets: ["Invocations"]),
    .library(name: "TypeEncodings", targets: ["TypeEncodings"]),
    .library(name: "InvocationText", targets: ["InvocationText"]),
    .library(name: "ForwardingUndo", targets: ["ForwardingUndo"]),
    // For tests only: it links Swift Testing and XCTest.
    .library(name: "ForwardingTesting", targets: ["ForwardingTesting"]),
    .library(name: "ForwardingWire", targets: ["ForwardingWire"]),
    .library(name: "ForwardingRemote", targets: ["ForwardingRemote"]),
    .library(name: "ForwardingNATS", targets: ["ForwardingNATS"]),
    .library(name: "ForwardingActors", targets: ["ForwardingActors"]),
    .library(name: "ForwardingJournal", targets: ["ForwardingJournal"]),
    .executable(name: "forward", targets: ["forward"]),
  ],
  traits: [
    .trait(
      name: "Macros",
      description:
        "`@Forwardable`, built with the SwiftSyntax of the toolchain: nothing is fetched."),
    .trait(
      name: "NATS", description: "`NATSTransport`, which needs libnats and its headers."),
    .trait(
      name: "MacrosFromSource",
      description: "`@Forwardable`, built with swift-syntax as a package."),
  ],
  dependencies: [
    // Not even resolved without the trait `MacrosFromSource`.
    .package(url: "https://github.com/swiftlang/swift-syntax.git", "602.0.0"..<"604.0.0")
  ],
  targets: [
    // C: the only two targets that use libffi.
    .systemLibrary(
      name: "CLibFFI", path: "CShims/LibFFI", pkgConfig: "libffi",
      providers: [.apt(["libffi-dev"])]),
    .target(
      name: "CForwardingShims", dependencies: ["CLibFFI"], path: "CShims/CallShims",
      publicHeadersPath: "include", cSettings: cChecks, linkerSettings: [.linkedLibrary("m")]),

    // Swift, bottom to top. Each target imports only the modules listed for it here.
    .target(
      name: "TypeEncodings", path: "Sources/Core/TypeEncodings", swiftSettings: checks + droppable),
    .target(
      name: "Invocations", dependencies: ["TypeEncodings", "CForwardingShims"],
      path: "Sources/Core/Invocations", swiftSettings: checks + droppable),
    .target(
      name: "Forwarding",
      dependencies: [
        "Invocations", "TypeEncodings",
        .target(
          name: "ForwardingMacros", condition: .when(traits: ["Macros", "MacrosFromSource"])),
      ], path: "Sources/Core/Forwarding", swiftSettings: checks + droppable),
    // The macro `@Forwardable`. Without one of the traits it is an empty program.
    .macro(
      name: "ForwardingMacros",
      dependencies: [
        .product(
          name: "SwiftSyntax", package: "swift-syntax",
          condition: .when(traits: ["MacrosFromSource"])),
        .product(
          name: "SwiftDiagnostics", package: "swift-syntax",
          condition: .when(traits: ["MacrosFromSource"])),
        .product(
          name: "SwiftSyntaxMacros", package: "swift-syntax",
          condition: .when(traits: ["MacrosFromSource"])),
        .product(
          name: "SwiftSyntaxBuilder", package: "swift-syntax",
          condition: .when(traits: ["MacrosFromSource"])),
        .product(
          name: "SwiftCompilerPlugin", package: "swift-syntax",
          condition: .when(traits: ["MacrosFromSource"])),
      ],
      path: "Sources/Core/ForwardingMacros",
      // Optimizing it takes three times as long as compiling it, in every clean build of a program.
      swiftSettings: checks + [
        .unsafeFlags(["-I", hostLibraries], .when(traits: ["Macros"])),
        .unsafeFlags(["-Onone"], .when(configuration: .release, traits: ["Macros"])),
      ],
      linkerSettings: [
        .unsafeFlags(
          ["-L", hostLibraries, "-Xlinker", "-rpath", "-Xlinker", hostLibraries],
          .when(traits: ["Macros"]))
      ]),
    // Arguments and results as JSON, which the tool reads and writes.
    .target(
      name: "InvocationText", dependencies: ["Invocations", "TypeEncodings"],
      path: "Sources/Core/InvocationText", swiftSettings: checks + droppable),
    // Undo and redo with recorded calls.
    .target(
      name: "ForwardingUndo", dependencies: ["Forwarding", "Invocations"],
      path: "Sources/Kept/ForwardingUndo", swiftSettings: checks + droppable),
    // Spies, and the glue that reports their failures to a test library. Products that ship do not
    // link the glue.
    .target(
      name: "Spies", dependencies: ["Forwarding", "Invocations"], path: "Sources/Kept/Spies",
      swiftSettings: checks + droppable),
    .target(
      name: "ForwardingTesting", dependencies: ["Spies", "Forwarding"],
      path: "Sources/Kept/ForwardingTesting", swiftSettings: checks),
    // Calls as bytes, for other processes and for files; and a journal file of calls.
    .target(
      name: "ForwardingWire", dependencies: ["Forwarding", "Invocations", "TypeEncodings"],
      path: "Sources/Kept/ForwardingWire", swiftSettings: checks + droppable),
    .target(
      name: "CJournalShims", path: "CShims/JournalShims", publicHeadersPath: "include",
      cSettings: cChecks),
    .target(
      name: "ForwardingJournal",
      dependencies: [
        "ForwardingWire", "Forwarding", "Invocations", "TypeEncodings", "CJournalShims",
      ], path: "Sources/Kept/ForwardingJournal", swiftSettings: checks + droppable),
    // System calls that Swift's own module of the system library leaves out.
    .target(
      name: "CSocketShims", path: "CShims/SocketShims", publicHeadersPath: "include",
      cSettings: cChecks),
    // Messages to objects in other processes, and the transports that carry them.
    .target(
      name: "ForwardingRemote",
      dependencies: [
        "ForwardingWire", "Forwarding", "Invocations", "TypeEncodings", "CSocketShims",
      ],
      path: "Sources/Elsewhere/ForwardingRemote", swiftSettings: checks + droppable),
    // Swift's distributed actors over the same transports.
    .target(
      name: "ForwardingActors",
      dependencies: ["ForwardingRemote", "ForwardingWire", "Invocations"],
      path: "Sources/Elsewhere/ForwardingActors", swiftSettings: checks + droppable),
    // The NATS transport. Empty without the trait `NATS`, so that other users do not need libnats.
    .systemLibrary(
      name: "CNATS", path: "CShims/NATS", pkgConfig: "libnats",
      providers: [.apt(["libnats-dev"])]),
    .target(
      name: "ForwardingNATS",
      dependencies: [
        "ForwardingRemote", "ForwardingWire", "Invocations",
        .target(name: "CNATS", condition: .when(traits: ["NATS"])),
      ], path: "Sources/Elsewhere/ForwardingNATS", swiftSettings: checks + droppable),
    .executableTarget(
      name: "forward",
      dependencies: [
        "Forwarding", "ForwardingUndo", "Spies", "InvocationText", "ForwardingJournal",
        "ForwardingRemote", "ForwardingNATS", "CForwardingShims",
      ], swiftSettings: checks),

    // Tests.
    .target(
      name: "CForwardingFixtures", path: "CShims/Fixtures", publicHeadersPath: "include",
      cSettings: cChecks),
    .target(
      name: "ForwardingTestSupport", dependencies: ["TypeEncodings"],
      path: "Tests/ForwardingTestSupport", swiftSettings: testChecks),
    // Random signatures as C, for machines that Swift does not run on.
    .executableTarget(
      name: "CallMatrix",
      dependencies: ["Invocations", "TypeEncodings", "CForwardingShims", "ForwardingTestSupport"],
      path: "Tests/CallMatrix", swiftSettings: testChecks),
    // Pages and symbols as the input of `docc`, for Scripts/docs.sh.
    .executableTarget(
      name: "DocumentationSite", path: "Tests/DocumentationSite", swiftSettings: testChecks),
    .testTarget(
      name: "DocumentationSiteTests", dependencies: ["DocumentationSite"],
      swiftSettings: testChecks),
    // Transports to another process, and a real NATS server.
    .target(
      name: "RemoteTestSupport",
      dependencies: ["ForwardingRemote", "ForwardingNATS", "ForwardingTestSupport"],
      path: "Tests/RemoteTestSupport", swiftSettings: testChecks),
    // A class of another module, whose method tables the tests extend.
    .target(
      name: "ForeignTypes", dependencies: ["Forwarding"], path: "Tests/ForeignTypes",
      swiftSettings: testChecks),
    // The fuzz targets. The package in Fuzz runs them on random bytes, FuzzCorpusTests on the
    // corpus.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Forwarding", "Invocations", "TypeEncodings", "InvocationText", "CForwardingShims",
        "ForwardingWire", "ForwardingJournal", "CJournalShims", "ForwardingRemote",
        "ForwardingActors",
      ], path: "Tests/FuzzTargets", swiftSettings: testChecks),
    .testTarget(
      name: "FuzzCorpusTests", dependencies: ["FuzzTargets"], swiftSettings: testChecks),
    .testTarget(
      name: "TypeEncodingsTests", dependencies: ["TypeEncodings", "ForwardingTestSupport"],
      swiftSettings: testChecks),
    .testTarget(
      name: "InvocationsTests",
      dependencies: [
        "Invocations", "TypeEncodings", "CForwardingShims", "CForwardingFixtures",
        "ForwardingTestSupport",
      ], swiftSettings: testChecks),
    .testTarget(
      name: "InvocationTextTests",
      dependencies: ["InvocationText", "Forwarding", "Invocations", "TypeEncodings"],
      swiftSettings: testChecks),
    .testTarget(
      name: "ForwardingWireTests",
      dependencies: ["ForwardingWire", "Forwarding", "ForwardingTestSupport"],
      swiftSettings: testChecks),
    .testTarget(
      name: "ForwardingRemoteTests",
      dependencies: [
        "ForwardingRemote", "ForwardingNATS", "ForwardingWire", "Forwarding", "RemoteTestSupport",
        "ForwardingTestSupport", "CForwardingFixtures",
      ],
      swiftSettings: testChecks),
    .testTarget(
      name: "ForwardingActorsTests",
      dependencies: [
        "ForwardingActors", "ForwardingRemote", "ForwardingNATS", "ForwardingWire",
        "RemoteTestSupport", "ForwardingTestSupport",
      ],
      swiftSettings: testChecks),
    .testTarget(
      name: "ForwardingJournalTests",
      dependencies: [
        "ForwardingJournal", "ForwardingWire", "Forwarding", "ForwardingUndo",
        "ForwardingTesting", "CJournalShims", "ForwardingTestSupport",
      ], swiftSettings: testChecks),
    .testTarget(
      name: "ForwardingTests",
      dependencies: [
        "Forwarding", "Invocations", "TypeEncodings", "CForwardingShims", "CForwardingFixtures",
        "ForwardingTestSupport", "ForeignTypes", "ForwardingTesting", "InvocationText",
      ], swiftSettings: testChecks),
    .testTarget(
      name: "ForwardToolTests",
      dependencies: [
        "forward", "Forwarding", "Invocations", "TypeEncodings", "InvocationText",
        "ForwardingJournal", "TestedBenchmarks", "ForwardingTestSupport",
      ],
      swiftSettings: testChecks),
    // The rows and the page of the package in Benchmarks, compiled once more for their tests: a
    // name of a target must be unique in both packages together.
    .target(
      name: "TestedSubjects", path: "Benchmarks/BenchmarkSubjects", publicHeadersPath: "include",
      cSettings: cChecks),
    .target(
      name: "TestedBenchmarks",
      dependencies: [
        "Forwarding", "ForwardingUndo", "Spies", "ForwardingJournal", "ForwardingRemote",
        "TestedSubjects", "CForwardingShims",
      ], path: "Benchmarks/CallBenchmarks", swiftSettings: checks),
    .testTarget(
      name: "CallBenchmarksTests", dependencies: ["TestedBenchmarks", "ForwardingTestSupport"],
      swiftSettings: testChecks),
    // A program whose classes are isolated to the main actor by default.
    .testTarget(
      name: "MainActorTests", dependencies: ["Forwarding"],
      swiftSettings: testChecks + [
        .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
    // Protocols with `@Forwardable`. Empty without the trait `Macros`.
    .target(
      name: "FaceProtocols", dependencies: ["Forwarding"], path: "Tests/FaceProtocols",
      swiftSettings: testChecks + [.strictMemorySafety()]),
    .testTarget(
      name: "FaceTests",
      dependencies: [
        "FaceProtocols", "Forwarding", "ForwardingTesting", "ForwardingTestSupport",
      ],
      swiftSettings: testChecks),
    .testTarget(
      name: "SpyTests",
      dependencies: [
        "ForwardingTesting", "ForwardingJournal", "Forwarding", "ForwardingTestSupport",
      ],
      swiftSettings: testChecks),
    .testTarget(
      name: "ForwardingUndoTests",
      dependencies: [
        "ForwardingUndo", "Forwarding", "CForwardingFixtures", "ForwardingTestSupport",
      ],
      swiftSettings: testChecks),
    // Depends on the umbrella module alone: fails to build when it leaks a lower module.
    .testTarget(name: "ConsumerTests", dependencies: ["Forwarding"], swiftSettings: testChecks),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c17
)

// FORWARDING_TESTS=InvocationsTests,FaceTests builds only these targets and those that they need:
//   FORWARDING_TESTS=FaceTests swift build --traits Macros --product swift-forwardingPackageTests
//   FORWARDING_TESTS=FaceTests swift test --traits Macros --skip-build
if let names = Context.environment["FORWARDING_TESTS"] {
  var needed = Set(names.split(separator: ",").map(String.init))
  let known = Set(package.targets.map(\.name))
  precondition(needed.isSubset(of: known), "FORWARDING_TESTS: unknown \(needed.subtracting(known))")
  var count = 0
  while count < needed.count {
    count = needed.count
    for target in package.targets where needed.contains(target.name) {
      for dependency in target.dependencies {
        switch dependency {
        case .targetItem(let name, _), .byNameItem(let name, _): needed.insert(name)
        default: break
        }
      }
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  if !needed.contains("ForwardingMacros") { package.dependencies = [] }
  package.products.removeAll { product in
    switch product {
    case let library as Product.Library: !needed.isSuperset(of: library.targets)
    case let program as Product.Executable: !needed.isSuperset(of: program.targets)
    default: true
    }
  }
}
