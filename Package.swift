// swift-tools-version: 6.2
// Owns the modules and their one direction of dependency: a target may only use targets above it.

import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "rivulet",
    products: [
        .executable(name: "rivulet", targets: ["RivuletMain"]),
        .library(name: "Rivulet", targets: ["Rivulet"]),
        .library(name: "RivuletObjects", targets: ["RivuletObjects"]),
        .library(name: "RivuletObservation", targets: ["RivuletObservation"]),
        .library(name: "RivuletTesting", targets: ["RivuletTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "603.0.1"..<"604.0.0"),
    ],
    targets: [
        .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CCurrentRun"),
        .target(name: "CPageChecksums", dependencies: ["CSQLite"]),
        .target(name: "CProcessArguments"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .macro(
            name: "RivuletMacros",
            dependencies: [
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
            ]
        ),
        .target(
            name: "RivuletBase",
            dependencies: [
                .product(name: "HashTreeCollections", package: "swift-collections"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ]
        ),
        .target(name: "RivuletJSON", dependencies: ["RivuletBase"]),
        .target(name: "RivuletSchema", dependencies: ["RivuletJSON"]),
        .target(name: "RivuletHTTP", dependencies: ["RivuletBase"]),
        .target(name: "RivuletEventLoop", dependencies: ["CLibuv", "RivuletBase"]),
        .target(
            name: "RivuletObservation",
            dependencies: [
                "CCurrentRun", "RivuletBase", "RivuletJSON", "RivuletMacros",
                .product(name: "OrderedCollections", package: "swift-collections"),
            ]
        ),
        .target(name: "RivuletObjects", dependencies: ["RivuletMacros"]),
        .target(
            name: "RivuletStores",
            dependencies: [
                "RivuletBase", "RivuletJSON", "RivuletObjects", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ]
        ),
        .target(name: "RivuletAccess", dependencies: ["RivuletBase", "RivuletJSON"]),
        .target(
            name: "RivuletAuth",
            dependencies: [
                "RivuletAccess", "RivuletBase", "RivuletJSON", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .target(
            name: "RivuletEngine",
            dependencies: [
                "RivuletAccess", "RivuletBase", "RivuletJSON", "RivuletMacros", "RivuletObjects",
                "RivuletObservation", "RivuletSchema",
            ]
        ),
        .target(
            name: "RivuletInProcess",
            dependencies: [
                "RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "RivuletSessions",
            dependencies: [
                "RivuletAccess", "RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletSchema",
                "RivuletStores", .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "RivuletCluster",
            dependencies: [
                "RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletSessions", "RivuletStores",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "RivuletNATS",
            dependencies: [
                "RivuletBase", "RivuletCluster", "RivuletEngine", "RivuletEventLoop", "RivuletJSON",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "RivuletSQLite",
            dependencies: [
                "CPageChecksums", "CSQLite", "CZlib", "RivuletBase", "RivuletCluster", "RivuletSessions",
                "RivuletStores",
            ]
        ),
        .target(name: "RivuletMetrics", dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")]),
        .target(
            name: "RivuletServer",
            dependencies: [
                "CZlib", "RivuletAccess", "RivuletAuth", "RivuletBase", "RivuletCluster", "RivuletEngine",
                "RivuletEventLoop", "RivuletHTTP", "RivuletJSON", "RivuletMetrics", "RivuletObservation",
                "RivuletSchema", "RivuletSessions", "RivuletStores",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.embedInCode("OpenAPI/openapi.json")]
        ),
        .target(
            name: "Rivulet",
            dependencies: [
                "RivuletAccess", "RivuletBase", "RivuletCluster", "RivuletEngine", "RivuletEventLoop",
                "RivuletInProcess", "RivuletJSON", "RivuletMetrics", "RivuletNATS", "RivuletObjects",
                "RivuletObservation", "RivuletSQLite", "RivuletSchema", "RivuletServer", "RivuletSessions",
                "RivuletStores", .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "RivuletTestClock", dependencies: ["RivuletEngine"]),
        .target(
            name: "RivuletTesting",
            dependencies: [
                "RivuletAccess", "RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletServer",
                "RivuletSessions", "RivuletStores", "RivuletTestClock",
            ]
        ),
        .target(name: "RivuletExamples", dependencies: ["Rivulet"]),
        .target(
            name: "RivuletCLI",
            dependencies: [
                "CProcessArguments", "Rivulet", "RivuletAccess", "RivuletAuth", "RivuletBase", "RivuletCluster",
                "RivuletEventLoop", "RivuletExamples", "RivuletJSON", "RivuletNATS", "RivuletServer", "RivuletStores",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // Tests of commands import them from a library, because a package with a macro does not build executables for
        // its tests.
        .executableTarget(name: "RivuletMain", dependencies: ["RivuletCLI"]),
        .target(name: "CAllocationCount", path: "Benchmarks/Observation/CAllocationCount"),
        .executableTarget(
            name: "ObservationBenchmark",
            dependencies: ["CAllocationCount", "RivuletObservation"],
            path: "Benchmarks/Observation/ObservationBenchmark"
        ),
        .target(
            name: "CounterFixture",
            dependencies: ["RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation"],
            path: "Tests/Support/CounterFixture"
        ),
        .executableTarget(
            name: "ExplicitServer",
            dependencies: ["CounterFixture", "Rivulet", .product(name: "Logging", package: "swift-log")],
            path: "Tests/Support/ExplicitServer"
        ),
        .executableTarget(
            name: "PreferencesProgram",
            dependencies: ["Rivulet"],
            path: "Tests/Support/PreferencesProgram"
        ),
        .executableTarget(name: "VotesProgram", dependencies: ["Rivulet"], path: "Tests/Support/VotesProgram"),
        .executableTarget(
            name: "SessionBenchmark",
            dependencies: [
                "CAllocationCount", "CounterFixture", "RivuletEngine", "RivuletJSON", "RivuletObservation",
                "RivuletSessions", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/Sessions/SessionBenchmark"
        ),
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: [
                "CAllocationCount", "RivuletJSON", "RivuletObservation", "RivuletSQLite", "RivuletSessions",
                "RivuletStores",
            ],
            path: "Benchmarks/Stores/StoreBenchmark"
        ),
        .target(
            name: "ChangeOracle",
            dependencies: ["RivuletJSON", "RivuletObservation"],
            path: "Tests/Support/ChangeOracle"
        ),
        .target(name: "SeededRandom", path: "Tests/Support/SeededRandom"),
        .target(
            name: "StorageConformance",
            dependencies: ["RivuletBase", "RivuletSessions"],
            path: "Tests/Support/StorageConformance"
        ),
        .target(
            name: "ItemStorageConformance",
            dependencies: ["RivuletStores", "SeededRandom"],
            path: "Tests/Support/ItemStorageConformance"
        ),
        .target(
            name: "ClusterModels",
            dependencies: ["RivuletBase", "RivuletCluster", "RivuletSessions", "RivuletStores", "SeededRandom"],
            path: "Tests/Support/ClusterModels"
        ),
        .target(name: "StoreFixture", dependencies: ["RivuletStores"], path: "Tests/Support/StoreFixture"),
        .target(name: "CStorageFaults", path: "Tests/Support/CStorageFaults"),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "RivuletHTTP", "RivuletJSON", "RivuletObservation", "RivuletSQLite", "RivuletServer",
                "RivuletSessions",
            ],
            path: "Tests/Fuzz/FuzzTargets"
        ),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/FuzzTests"),
        .testTarget(name: "DependencyTests"),
        .testTarget(
            name: "RivuletClusterTests",
            dependencies: [
                "ClusterModels", "ItemStorageConformance", "RivuletBase", "RivuletCluster", "RivuletSessions",
                "RivuletStores", "SeededRandom", "StorageConformance",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "RivuletNATSTests",
            dependencies: [
                "RivuletCluster", "RivuletEventLoop", "RivuletNATS", "SeededRandom",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(name: "RivuletExamplesTests", dependencies: ["Rivulet", "RivuletExamples", "RivuletTesting"]),
        .testTarget(
            name: "RivuletTests",
            dependencies: [
                "Rivulet", "RivuletCLI", "RivuletCluster", "RivuletNATS", "RivuletServer", "RivuletTesting",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(name: "RivuletBaseTests", dependencies: ["RivuletBase", "SeededRandom"]),
        .testTarget(name: "RivuletJSONTests", dependencies: ["RivuletJSON", "RivuletSchema", "SeededRandom"]),
        .testTarget(name: "RivuletSchemaTests", dependencies: ["RivuletJSON", "RivuletSchema"]),
        .testTarget(
            name: "RivuletMetricsTests",
            dependencies: ["RivuletMetrics", .product(name: "CoreMetrics", package: "swift-metrics")]
        ),
        .testTarget(name: "RivuletHTTPTests", dependencies: ["RivuletHTTP", "SeededRandom"]),
        .testTarget(name: "RivuletEventLoopTests", dependencies: ["RivuletEventLoop", "SeededRandom"]),
        .testTarget(
            name: "RivuletMacrosTests",
            dependencies: [
                "RivuletMacros", .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
            ]
        ),
        .testTarget(
            name: "RivuletObservationTests",
            dependencies: ["ChangeOracle", "RivuletJSON", "RivuletObservation", "RivuletSchema", "SeededRandom"]
        ),
        .testTarget(name: "RivuletObjectsTests", dependencies: ["RivuletObjects"]),
        .testTarget(
            name: "RivuletStoresTests",
            dependencies: [
                "CStorageFaults", "ItemStorageConformance", "RivuletJSON", "RivuletObjects", "RivuletStores",
                "StoreFixture", .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(name: "RivuletAccessTests", dependencies: ["RivuletAccess", "RivuletJSON", "SeededRandom"]),
        .testTarget(
            name: "RivuletAuthTests",
            dependencies: [
                "RivuletAccess", "RivuletAuth", "RivuletJSON", "SeededRandom",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .testTarget(
            name: "RivuletEngineTests",
            dependencies: ["CounterFixture", "RivuletEngine", "RivuletJSON", "RivuletObservation"]
        ),
        .testTarget(
            name: "RivuletInProcessTests",
            dependencies: [
                "CounterFixture", "RivuletEngine", "RivuletInProcess", "RivuletObservation", "RivuletTestClock",
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "RivuletSessionsTests",
            dependencies: [
                "ChangeOracle", "CounterFixture", "ItemStorageConformance", "RivuletAccess", "RivuletBase",
                "RivuletEngine", "RivuletJSON", "RivuletObjects", "RivuletObservation", "RivuletSessions",
                "RivuletStores", "RivuletTestClock", "SeededRandom", "StorageConformance", "StoreFixture",
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "RivuletSQLiteTests",
            dependencies: [
                "CPageChecksums", "CSQLite", "CStorageFaults", "ClusterModels", "ItemStorageConformance",
                "RivuletBase", "RivuletCluster", "RivuletSQLite", "RivuletSessions", "RivuletStores", "SeededRandom",
                "StorageConformance",
            ]
        ),
        .testTarget(
            name: "RivuletTestingTests",
            dependencies: [
                "RivuletAccess", "RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletServer",
                "RivuletSessions", "RivuletStores", "RivuletTesting",
            ]
        ),
        .testTarget(
            name: "RivuletServerTests",
            dependencies: [
                "CZlib", "CounterFixture", "RivuletAccess", "RivuletAuth", "RivuletBase", "RivuletCluster",
                "RivuletEngine", "RivuletEventLoop", "RivuletHTTP", "RivuletJSON", "RivuletMetrics", "RivuletObjects",
                "RivuletObservation", "RivuletServer", "RivuletSessions", "RivuletStores", "SeededRandom",
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ]
        ),
        .testTarget(name: "WaveSamplesTests", dependencies: ["Rivulet"]),
    ]
)

// System libraries take no settings.
for target in package.targets where [.regular, .executable, .test, .macro].contains(target.type) {
    target.swiftSettings = settings
}

// `Tests/run module` builds the tests of one module, with the targets that they need.
if let tests = Context.environment["RIVULET_TESTS"] {
    var needed: Set<String> = []
    var open = [tests]
    while let name = open.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for case .byNameItem(let name, _) in target.dependencies { open.append(name) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll()
}

// Links only with libFuzzer's runtime, as `Tests/Fuzz/run` requires. The sanitizers are for our modules only. The
// macros are a tool of the compiler with a separate `main`.
if Context.environment["RIVULET_FUZZ"] != nil {
    let sanitizers = ["-sanitize=fuzzer,address"]
    for target in package.targets where target.type == .regular && !target.name.hasPrefix("C") {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(sanitizers)]
    }
    package.targets.append(
        .executableTarget(
            name: "FuzzProgram",
            dependencies: ["FuzzTargets"],
            path: "Tests/Fuzz/FuzzProgram",
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"] + sanitizers)],
            linkerSettings: [.unsafeFlags(sanitizers)]
        )
    )
}
