// Checks the text of cursors.

import RivuletSessions
import Testing

@Suite struct CursorTests {
    @Test(arguments: [
        "k3v9x0qa.7.b2xy-0", "k3v9x0qa.7.b2xy-3u.a1b2c3", "k3v9x0qa.18446744073709551615.b2xy-12u", "k3v9x0qa.0",
    ])
    func `a cursor's text reads back as the same cursor`(_ text: String) throws {
        #expect(try #require(Cursor(text)).description == text)
    }

    @Test func `the tag of the longest cursor is its text in quotes`() throws {
        let text = "k3v9x0qa.18446744073709551615.b2xy-18446744073709551615u.a1b2c3"
        #expect(try #require(Cursor(text)).tag == "\"\(text)\"")
    }

    @Test(arguments: [
        "", "a", "k3v9x0qa", "k3v9x0qa.", "k3v9x0qa.-1", "k3v9x0qa.01", "K3v9x0qa.1", "k3v9x0qa.1.b2",
        "k3v9x0qa.1.b2xy",
        "k3v9x0qa.1.b2xy-", "k3v9x0qa.1.b2xy-1.a1b2c", "k3v9x0qa.1.b2xy-1.A1b2c3", "k3v9x0qa.1.b2xy-1.a1b2c3.a",
        "k3v9x0qa.1.b2xy-1-1", "k3v9x0qa.1.b2xy-1.2", "k3v9x0qa.99999999999999999999.b2xy-1",
        String(repeating: "9", count: 200),
    ])
    func `other text is no cursor`(_ text: String) {
        #expect(Cursor(text) == nil)
    }

    @Test func `positions are ordered by version, then by transient changes`() {
        let positions = [(1, 0), (1, 2), (2, 0)].map { Cursor.Position(version: $0.0, transients: $0.1) }
        #expect(positions == positions.sorted().shuffled().sorted())
        #expect(positions[0] < positions[1] && positions[1] < positions[2])
    }
}
