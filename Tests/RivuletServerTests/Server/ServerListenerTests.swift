// Checks the places at which a server can listen.

import RivuletServer
import Testing

@Suite struct ServerListenerTests {
    @Test func `a listener is written as it is read`() throws {
        for text in ["tcp", "unix:/run/rivulet/rivulet.sock", "unix:a.sock", "unix:unix:a"] {
            #expect("\(try ServerListener(text))" == text)
        }
        #expect(try ServerListener("unix:/a b") == .unix(path: "/a b"))
    }

    @Test(arguments: ["", "TCP", "tcp:", "unix", "/run/a.sock", "http://127.0.0.1:8080", "8080"])
    func `any other text is refused in one line that names it`(_ text: String) {
        let error = #expect(throws: ServerError.self) { try ServerListener(text) }
        #expect(error?.description.contains("--listen has \"\(text)\"") == true)
        #expect(error?.description.contains("\n") == false)
    }

    @Test func `options with impossible listeners are refused`() {
        let long = String(repeating: "x", count: 108)
        for (listeners, part) in [
            ([], "has 0 places"), ([.tcp, .tcp], "twice"), ([.unix(path: "")], "without a path"),
            ([.unix(path: "a\0b")], "without a path"), ([.tcp, .unix(path: long)], "at most 107"),
            ((0..<9).map { .unix(path: "\($0)") }, "it takes 1 to 8"),
        ] as [([ServerListener], String)] {
            let error = #expect(throws: ServerError.self) { try ServerOptions(listeners: listeners).check() }
            #expect(error?.description.contains(part) == true, "\(listeners)")
        }
    }

    @Test func `only a port on a public address needs credentials`() throws {
        try ServerOptions(listeners: [.unix(path: "a")], host: "0.0.0.0").check()
        #expect(throws: ServerError.self) {
            try ServerOptions(listeners: [.unix(path: "a"), .tcp], host: "0.0.0.0").check()
        }
        #expect(throws: ServerError.self) {
            try ServerOptions(listeners: [.unix(path: "a")], publicURL: "https://a.example").check()
        }
    }
}
