// swift-tools-version: 6.3
import CompilerPluginSupport
import Foundation
import PackageDescription

// Every Swift target opts in to the same checks; an exception needs a comment. Memory safety is checked
// in debug builds, which everybody makes who changes something: a release build may be unchecked
// (`-Ounchecked`), which the compiler does not allow together.
let checks: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .strictMemorySafety(.when(configuration: .debug)),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Test bodies handle raw frames and C fixtures on every other line, so the
// `unsafe` marks are checked where they protect users: in Sources.
let testChecks: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let cChecks: [CSetting] = [
  .define("_GNU_SOURCE", .when(platforms: [.linux])),
  .treatAllWarnings(as: .error),
  .enableWarning("all"),
  .enableWarning("extra"),
]

// The toolchain's own SwiftSyntax, which the macros are built with under the trait `Macros`. It lies beside
// the library that reads this manifest.
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
    // For tests alone: it brings Swift Testing and XCTest with it.
    .library(name: "ForwardingTesting", targets: ["ForwardingTesting"]),
    .library(name: "ForwardingWire", targets: ["ForwardingWire"]),
    .library(name: "ForwardingRemote", targets: ["ForwardingRemote"]),
    .library(name: "ForwardingNATS", targets: ["ForwardingNATS"]),
    .library(name: "ForwardingActors", targets: ["ForwardingActors"]),
    .library(name: "ForwardingJournal", targets: ["ForwardingJournal"]),
    .executable(name: "forward", targets: ["forward"]),
    // For the package in Benchmarks, and no promise to anybody else.
    .library(name: "_CallBenchmarks", targets: ["CallBenchmarks"]),
    // For the package in Fuzz, likewise.
    .library(name: "_FuzzTargets", targets: ["FuzzTargets"]),
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
    // C: the only two places that know libffi exists.
    .systemLibrary(
      name: "CLibFFI", path: "CShims/LibFFI", pkgConfig: "libffi",
      providers: [.apt(["libffi-dev"])]),
    .target(
      name: "CForwardingShims", dependencies: ["CLibFFI"], path: "CShims/CallShims",
      publicHeadersPath: "include", cSettings: cChecks),

    // Swift, bottom to top. Each one imports only what is listed here.
    .target(name: "TypeEncodings", swiftSettings: checks),
    .target(
      name: "Invocations", dependencies: ["TypeEncodings", "CForwardingShims"],
      swiftSettings: checks),
    .target(
      name: "Forwarding",
      dependencies: [
        "Invocations", "TypeEncodings",
        .target(
          name: "ForwardingMacros", condition: .when(traits: ["Macros", "MacrosFromSource"])),
      ], swiftSettings: checks),
    // What `@Forwardable` writes. A program that does nothing, without one of the traits.
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
      swiftSettings: checks + [.unsafeFlags(["-I", hostLibraries], .when(traits: ["Macros"]))],
      linkerSettings: [
        .unsafeFlags(
          ["-L", hostLibraries, "-Xlinker", "-rpath", "-Xlinker", hostLibraries],
          .when(traits: ["Macros"]))
      ]),
    // Arguments and results as JSON: what the tool reads and writes.
    .target(
      name: "InvocationText", dependencies: ["Invocations", "TypeEncodings"],
      swiftSettings: checks),
    // Undo and redo, made of recorded calls.
    .target(
      name: "ForwardingUndo", dependencies: ["Forwarding", "Invocations"], swiftSettings: checks),
    // Spies, and the glue that takes their failures to a test library. Nothing that ships has the second.
    .target(
      name: "Spies", dependencies: ["Forwarding", "Invocations"], swiftSettings: checks),
    .target(
      name: "ForwardingTesting", dependencies: ["Spies", "Forwarding"], swiftSettings: checks),
    // Calls as bytes, for what is outside of the process; and a file of them.
    .target(
      name: "ForwardingWire", dependencies: ["Forwarding", "Invocations", "TypeEncodings"],
      swiftSettings: checks),
    .target(
      name: "CJournalShims", path: "CShims/JournalShims", publicHeadersPath: "include",
      cSettings: cChecks),
    .target(
      name: "ForwardingJournal",
      dependencies: [
        "ForwardingWire", "Forwarding", "Invocations", "TypeEncodings", "CJournalShims",
      ], swiftSettings: checks),
    // Calls of the system that Swift's own module of the system library leaves out.
    .target(
      name: "CSocketShims", path: "CShims/SocketShims", publicHeadersPath: "include",
      cSettings: cChecks),
    // Messages to objects of other processes, and what carries them.
    .target(
      name: "ForwardingRemote",
      dependencies: [
        "ForwardingWire", "Forwarding", "Invocations", "TypeEncodings", "CSocketShims",
      ],
      swiftSettings: checks),
    // Swift's distributed actors over the same.
    .target(
      name: "ForwardingActors",
      dependencies: ["ForwardingRemote", "ForwardingWire", "Invocations"], swiftSettings: checks),
    // The same over NATS. Empty without the trait `NATS`, so that nobody else needs libnats.
    .systemLibrary(
      name: "CNATS", path: "CShims/NATS", pkgConfig: "libnats",
      providers: [.apt(["libnats-dev"])]),
    .target(
      name: "ForwardingNATS",
      dependencies: [
        "ForwardingRemote", "ForwardingWire", "Invocations",
        .target(name: "CNATS", condition: .when(traits: ["NATS"])),
      ], swiftSettings: checks),
    .executableTarget(
      name: "forward",
      dependencies: [
        "Forwarding", "ForwardingUndo", "Spies", "InvocationText", "ForwardingJournal",
        "ForwardingRemote", "ForwardingNATS", "CForwardingShims", "CallBenchmarks",
      ], swiftSettings: checks),

    // What is measured, and how: `forward bench` shows a part, the package in Benchmarks all.
    .target(
      name: "BenchmarkSubjects", path: "CShims/BenchmarkSubjects", publicHeadersPath: "include",
      cSettings: cChecks),
    .target(
      name: "CallBenchmarks",
      dependencies: [
        "Forwarding", "ForwardingUndo", "Spies", "ForwardingJournal", "ForwardingRemote",
        "BenchmarkSubjects", "CForwardingShims",
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
    // Ways to another process, and a real NATS server.
    .target(
      name: "RemoteTestSupport",
      dependencies: ["ForwardingRemote", "ForwardingNATS", "ForwardingTestSupport"],
      path: "Tests/RemoteTestSupport", swiftSettings: testChecks),
    // A type of another module, which tests make more of than its module knows.
    .target(
      name: "ForeignTypes", dependencies: ["Forwarding"], path: "Tests/ForeignTypes",
      swiftSettings: testChecks),
    // What is done with random bytes: by the package in Fuzz, and by a test with those it keeps.
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
        "ForwardingTestSupport",
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
        "forward", "Forwarding", "InvocationText", "ForwardingJournal", "CallBenchmarks",
        "ForwardingTestSupport",
      ],
      swiftSettings: testChecks),
    .testTarget(
      name: "CallBenchmarksTests", dependencies: ["CallBenchmarks", "ForwardingTestSupport"],
      swiftSettings: testChecks),
    // A program whose classes belong to the main actor unless they say otherwise.
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
      dependencies: ["ForwardingUndo", "Forwarding", "CForwardingFixtures"],
      swiftSettings: testChecks),
    // Depends on the umbrella alone: fails to build when a lower module leaks.
    .testTarget(name: "ConsumerTests", dependencies: ["Forwarding"], swiftSettings: testChecks),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c17
)

// FORWARDING_TESTS=InvocationsTests,FaceTests leaves these targets and the ones that they need, for a short build:
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
