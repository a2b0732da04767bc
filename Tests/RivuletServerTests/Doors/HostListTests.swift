// Checks the hosts for which a server answers.

import Testing

@testable import RivuletServer

@Suite struct HostListTests {
    private func hosts(_ entries: String...) throws -> HostList {
        try HostList(entries, and: ["Builder-7", "rivulet.example", ""])
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8080", "192.168.1.7", "8.8.8.8:1", "[::1]", "[::1]:8080", "[fe80::1]",
        "[::ffff:10.0.0.1]:80",
        "127.0.0.1.", "localhost", "localhost:8080", "LOCALHOST", "localhost.", "localhost.:8080", "localhost:",
        "app.localhost", "a.b.localhost:5173", "A.Localhost.", "builder-7", "BUILDER-7:80", "rivulet.example",
        "rivulet.example.:443",
    ])
    func `addresses, localhost, the machine and the public URL pass, whatever the port`(_ host: String) throws {
        #expect(try hosts().contains(host))
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "", ".", ":8080", "localhost.evil.example", "notlocalhost", ".localhost",
        "..localhost",
        "localhost..", "127.0.0.1.evil.example", "127.0.0.1.nip.io", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1",
        "127.0.0.256",
        "127.0.0.1..", "[::1", "[]", "[:]", "[::1].evil.example", "[localhost]", "builder-7.example", "rivulet",
        "sub.rivulet.example",
        "rivulet.example.evil.example", "%6cocalhost",
    ])
    func `other names are refused`(_ host: String) throws {
        #expect(try !hosts().contains(host))
    }

    @Test func `an entry allows its host, and an entry with a dot before it allows all subdomains`() throws {
        let hosts = try hosts("A.example", ".b.example")
        for host in ["a.example", "a.example:1", "A.EXAMPLE.", "x.b.example", "y.x.b.example:8080"] {
            #expect(hosts.contains(host), "\(host)")
        }
        for host in ["x.a.example", "b.example", ".b.example", "xb.example", "x..b.example", "a.example.evil"] {
            #expect(!hosts.contains(host), "\(host)")
        }
    }

    @Test(arguments: [
        "*", "", ".", "..b.example", "a.example:80", "https://a.example", "a.example/", "a b", "*.b.example",
        "münchen.example", "a..b",
        "a.example.",
    ])
    func `an entry that is no host name is refused in one line that names it`(_ entry: String) throws {
        let error = #expect(throws: ServerError.self) { try HostList([entry]) }
        #expect(error?.description.contains("--allowed-hosts has \"\(entry)\"") == true)
        #expect(error?.description.contains("\n") == false)
    }

    @Test func `a dot at the end of the machine's name or the public URL is ignored`() throws {
        let hosts = try HostList([], and: ["builder.", "Rivulet.example.", "."])
        for host in ["builder", "builder.", "rivulet.example", "rivulet.example.:443"] {
            #expect(hosts.contains(host), "\(host)")
        }
        #expect(!hosts.contains("") && !hosts.contains("."))
    }

    @Test func `a list has a limit`() throws {
        let entries = (0...HostList.entriesMax).map { "h\($0).example" }
        #expect(throws: ServerError.self) { try HostList(entries) }
        #expect(try HostList(Array(entries.dropLast())).contains("h0.example"))
    }
}
