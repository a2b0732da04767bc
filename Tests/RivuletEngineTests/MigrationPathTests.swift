// Checks the paths that the steps of a migration require, and the name of a missing path.

import RivuletEngine
import RivuletJSON
import Testing

@Suite struct MigrationPathTests {
    @Test func `each step has its own findings and gets the document of the previous step`() throws {
        let steps = [
            StateMigration(from: 2) { document in
                try document.move("/p/b", to: "/p/c")
                try document.remove("/p/x")
            },
            StateMigration(from: 1) { document in
                try document.move("/a", to: "/p/b")
                try document.remove("/p/x", required: false)
            },
        ]
        var document: JSONValue = ["a": 1]
        let findings = try steps.migrate(&document, from: 1)
        #expect(document == ["p": ["c": 1]])
        #expect(findings.found == [MigrationPath(version: 1, path: "/a"), MigrationPath(version: 2, path: "/p/b")])
        #expect(findings.missing == [MigrationPath(version: 2, path: "/p/x"): ["p"]], "the names before the step")
        var later: JSONValue = ["p": ["b": 1]]
        #expect(try steps.migrate(&later, from: 2).found == [MigrationPath(version: 2, path: "/p/b")])
    }

    @Test(arguments: [
        ("/name", ["p"], "; paths begin at /p"),
        ("/name", ["a", "b/c"], "; paths begin at /a, /b~1c"),
        ("/p/name", ["p"], ""),
        ("/name", [], ""),
        ("/x", (1...9).map { "f\($0)" }, "; paths begin at /f1, /f2, /f3, /f4, /f5, /f6, /f7, /f8 and others"),
    ])
    func `the error of a missing path has its step, and a hint if its first name is unknown`(
        path: String,
        beginnings: [String],
        hint: String
    ) {
        let fault = MigrationPath(version: 1, path: path).fault(in: "12 sessions", beginnings: beginnings)
        #expect(fault == "step 1→2: \(path) was found in 0 of 12 sessions\(hint)")
    }
}
