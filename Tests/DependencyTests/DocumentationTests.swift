// Checks that the pages in Documentation agree with the tests: their samples compile, and their rows are tested.

import Foundation
import Testing

@Suite struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The text of the only Swift file with that name in Sources or Tests, in any folder.
    private static func source(named name: String) throws -> String {
        let paths = try ["Sources", "Tests"].flatMap { top in
            try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: top).path)
                .filter { $0 == "\(name).swift" || $0.hasSuffix("/\(name).swift") }.map { "\(top)/\($0)" }
        }
        try #require(paths.count == 1, "\(name).swift: \(paths)")
        return try text(paths[0])
    }

    /// Lines without surrounding spaces, and without empty lines.
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test(arguments: [
        ("Wrappers.md", "DocumentedSamplesTests"),
        ("Observation.md", "DocumentedSamplesTests"),
        ("Collections.md", "DocumentedCollectionsTests"),
        ("Effects.md", "DocumentedEffectsTests"),
        ("Testing.md", "DocumentedTestStoreTests DocumentedCallersTests DocumentedFailureTests MigratingTests"),
        ("Migrations.md", "DocumentedMigrationsTests"),
        ("Engine.md", "WaveSamplesTests"),
        ("Views.md", "ViewSamplesTests"),
        ("History.md", "CounterFixture"),
        ("Shared.md", "NotesApp NotesAppTests"),
        ("Stores.md", "DocumentedStoresTests DocumentedValuesTests"),
        ("WritingApps.md", "DocumentedVotesTests CounterApp"),
    ])
    func `every sample of a page is in a compiled file`(_ page: String, _ files: String) throws {
        let compiled = try files.split(separator: " ").flatMap { Self.lines(try Self.source(named: String($0))) }
        let samples = try Self.text("Documentation/\(page)").matches(of: /(?s)```swift\n(.*?)```/).map(\.1)
        #expect(!samples.isEmpty)
        // A test in Tests/EndToEnd has SwiftPM read the sample of a package's manifest.
        for sample in samples where !sample.hasPrefix("// swift-tools-version") {
            let lines = Self.lines(sample)
            let isThere = compiled.indices.contains { compiled[$0...].starts(with: lines) }
            #expect(isThere, "\(page) has a sample that is not compiled: \(sample)")
        }
    }

    @Test func `every sample of the page on dispatches is in an example app`() throws {
        let compiled = try ["CounterApp.swift", "TodosApp.swift"].flatMap { file in
            Self.lines(try Self.text("Sources/RivuletExamples/\(file)"))
        }
        let samples = try Self.text("Documentation/Dispatch.md").matches(of: /(?s)```swift\n(.*?)```/).map(\.1)
        #expect(!samples.isEmpty)
        for sample in samples {
            let lines = Self.lines(sample)
            let isThere = compiled.indices.contains { compiled[$0...].starts(with: lines) }
            #expect(isThere, "Dispatch.md has a sample that is not compiled: \(sample)")
        }
    }

    // MARK: - Limits

    /// Returns a default as the page writes it, such as `16,384 bytes`, `10 s` or `64`, or nil for another text.
    private static func limit(_ source: Substring, of name: Substring) -> String? {
        if let time = source.firstMatch(of: /^\.(seconds|milliseconds)\(([\d_]+)\)$/) {
            return number(time.2, times: 1).map { "\($0) \(time.1 == "seconds" ? "s" : "ms")" }
        }
        if source == "nil" { return "none" }
        guard let match = source.firstMatch(of: /^([\d_]+)(?: << (\d+))?$/),
            let number = number(match.1, times: match.2.flatMap { Int($0) }.map { 1 << $0 } ?? 1)
        else { return nil }
        return name == "bytesMax" || name.contains("Bytes") ? number + " bytes" : number
    }

    /// A number with commas between its thousands.
    private static func number(_ source: Substring, times factor: Int) -> String? {
        guard let number = Int(source.filter { $0 != "_" }) else { return nil }
        let digits = String(number * factor).reversed()
        return String(
            digits.enumerated().flatMap { index, digit in index > 0 && index % 3 == 0 ? [",", digit] : [digit] }
                .reversed()
        )
    }

    @Test(arguments: [
        "ServerLimits", "SessionLimits", "EngineLimits", "StoreLimits",
    ])
    func `the page for operators has every limit with its default`(_ type: String) throws {
        let source = try Self.source(named: type)
        let properties = Set(
            source.matches(of: /(?m)^    public var (\w+): (?:Int\??|UInt64|Duration)$/).map { String($0.1) }
        )
        let defaults = source.matches(of: /(?m)^        (\w+): (?:Int\??|UInt64|Duration) = (.+?),?$/).map { match in
            "\(match.1): \(Self.limit(match.2, of: match.1) ?? "\(match.2) is no limit")"
        }
        #expect(Set(defaults.map { String($0.prefix { $0 != ":" }) }) == properties)
        let page = try Self.text("Documentation/Operating.md")
        let table = try #require(page.components(separatedBy: "\n| `\(type)` | Default |").dropFirst().first)
        let rows = table.components(separatedBy: "\n\n")[0].matches(of: /(?m)^\| `(\w+)` \| (.+?) \| .+ \|$/)
        #expect(rows.map { "\($0.1): \($0.2)" } == defaults)
    }

    // MARK: - Rows

    /// The rows that Tests/Rows/Systems.md describes: `| <a id="a-01"></a>A-01 | …`.
    private static func describedRows() throws -> [String] {
        let matches = try text("Tests/Rows/Systems.md").matches(of: /(?m)^\| <a id="([a-e]-\d\d)"><\/a>([A-E]-\d\d) \|/)
        try #require(matches.allSatisfy { $0.1 == $0.2.lowercased() }, "An anchor differs from the id of its row.")
        return matches.map { String($0.2) }
    }

    private struct RowTest: Hashable {
        let row: String
        let name: String
        let file: String
    }

    /// The names of a source's tests, by the text after `@Test`.
    ///
    /// Names in comments are left out.
    private static func testNames(in source: String) -> [String] {
        var names: [String] = []
        var isTest = false
        for line in lines(source) where !line.hasPrefix("//") {
            if line.hasPrefix("@Test") { isTest = true }
            guard let match = line.firstMatch(of: /^(?:.* )?func `([^`]*)`/) else { continue }
            if isTest { names.append(String(match.1)) }
            isTest = false
        }
        return names
    }

    /// The tests with names that begin with rows: `A-01, A-02: …`.
    private static func testsByRow() throws -> Set<RowTest> {
        let folder = root.appending(path: "Tests")
        var tests: Set<RowTest> = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for name in testNames(in: text) where name.starts(with: /(?:[A-E]-\d\d(?:, )?)+:/) {
                for row in name.prefix(while: { $0 != ":" }).components(separatedBy: ", ") {
                    tests.insert(RowTest(row: row, name: name, file: file))
                }
            }
        }
        return tests
    }

    @Test func `only a function with @Test is a test of a row`() {
        let source = """
            /// ``func `a comment` ``
            // @Test func `a test that is switched off`() {}
            func `a helper`() {}
            @Test func `a test`() {}
            @Test(arguments: ["func"])
            mutating func `a test with arguments`(text: String) {}
            func `another helper`() {}
            """
        #expect(Self.testNames(in: source) == ["a test", "a test with arguments"])
    }

    /// The tests that Tests/Rows/Rows.md names: `| row | test | file |`.
    private static func documentedTests() throws -> Set<RowTest> {
        let text = try text("Tests/Rows/Rows.md")
        return Set(
            text.matches(of: /(?m)^\| ([A-E]-\d\d) \| (.*?) \| `(.*?)` \|$/).map { match in
                RowTest(row: String(match.1), name: String(match.2), file: String(match.3))
            }
        )
    }

    @Test func `Rows.md names exactly the existing tests`() throws {
        let (tests, documented) = (try Self.testsByRow(), try Self.documentedTests())
        for missing in tests.subtracting(documented).sorted(by: { $0.row < $1.row }) {
            Issue.record("add: | \(missing.row) | \(missing.name) | `\(missing.file)` |")
        }
        for gone in documented.subtracting(tests).sorted(by: { $0.row < $1.row }) {
            Issue.record("remove: | \(gone.row) | \(gone.name) | `\(gone.file)` |")
        }
    }

    @Test func `every row of the five systems has a test`() throws {
        let tested = Set(try Self.testsByRow().map(\.row))
        let rows = try Self.describedRows()
        #expect(
            Dictionary(grouping: rows) { $0.prefix(1) }.mapValues(\.count) == [
                "A": 23, "B": 16, "C": 16, "D": 32, "E": 31,
            ]
        )
        for row in rows {
            #expect(tested.contains(row), "\(row) has no test")
        }
        #expect(tested.isSubset(of: rows))
    }
}
