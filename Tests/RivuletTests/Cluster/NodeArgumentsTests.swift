// Checks the options of a cluster: what they mean, and that each bad combination names its remedy.

import ArgumentParser
import Foundation
import Rivulet
import RivuletCLI
import RivuletNATS
import RivuletServer
import Testing

@Suite struct NodeArgumentsTests {
    private static let secret = String(repeating: "k", count: 32)
    private static let needed = ["--cluster", "nats://a,b:5222,c", "--node", "node-1.x", "--nats-sync-verified"]

    private func options(_ arguments: [String]) throws -> ClusterOptions? {
        try NodeArguments.parse(arguments).options { try SecretKey(Self.secret) }
    }

    /// The text of the error that the arguments give.
    private func refusal(_ arguments: [String]) -> String {
        do {
            _ = try options(arguments)
            return ""
        } catch {
            return (error as? ValidationError)?.message ?? "\(error)"
        }
    }

    @Test func `a node has the servers, its name and the lease`() throws {
        let options = try #require(try options(Self.needed + ["--lease", "3s"]))
        #expect(options.link.address == "nats://a:4222,b:5222,c:4222")
        #expect(options.node == "node-1.x")
        #expect(options.leaseSeconds == 3)
        #expect(options.isSyncVerified)
        #expect(try self.options(Self.needed)?.leaseSeconds == 10)
        #expect(try self.options(Self.needed + ["--lease", "60"])?.leaseSeconds == 60)
    }

    @Test func `monitors come before the operator's word`() throws {
        let options = try #require(try options(Self.needed + ["--nats-monitor", "http://a:8222"]))
        #expect(options.monitors.map(\.description) == ["http://a:8222"])
        #expect(!options.isSyncVerified)
    }

    @Test func `without a cluster there is no node`() throws {
        #expect(try options([]) == nil)
    }

    @Test(arguments: [
        (["--node", "a"], "--node without --cluster"),
        (["--lease", "5s", "--nats-sync-verified"], "--lease, --nats-sync-verified without --cluster"),
        (["--nats-creds", "x"], "--nats-creds without --cluster"),
    ])
    func `an option that would be ignored is refused`(arguments: [String], text: String) {
        #expect(refusal(arguments).hasPrefix(text))
        #expect(refusal(arguments).contains("add --cluster"))
    }

    @Test(arguments: ["2s", "61s", "x", "-3", "3.5s", ""])
    func `a lease out of range is refused`(lease: String) {
        #expect(refusal(Self.needed + ["--lease", lease]) == "--lease is 3s to 60s; found \"\(lease)\"")
    }

    @Test(arguments: ["", "a node", "ä", "a/b", String(repeating: "n", count: 65)])
    func `a name that streams and records could not carry is refused`(name: String) {
        let arguments = ["--cluster", "nats://a", "--node", name, "--nats-sync-verified"]
        #expect(refusal(arguments).contains("found \"\(name)\""))
    }

    @Test func `a node without a name is refused`() {
        #expect(refusal(["--cluster", "nats://a", "--nats-sync-verified"]).contains("add --node NAME"))
    }

    @Test func `a node that knows nothing of the disks of NATS is refused`() {
        let text = refusal(["--cluster", "nats://a", "--node", "n"])
        #expect(text.contains("--nats-monitor") && text.contains("--nats-sync-verified"))
    }

    @Test(arguments: [
        ("tls://a", "no TLS"), ("http://a", "nats://"), ("nats://", "not valid"),
    ])
    func `an address that is not one of NATS is refused`(address: String, text: String) {
        let refusal = refusal(["--cluster", address, "--node", "n", "--nats-sync-verified"])
        #expect(refusal.hasPrefix("--cluster: ") && refusal.contains(text))
    }

    @Test func `a monitor that is no URL of HTTP is refused`() {
        #expect(refusal(Self.needed + ["--nats-monitor", "a:8222"]).contains("--nats-monitor is a URL"))
    }

    @Test func `two kinds of credentials are refused`() throws {
        try withFile("the token\n") { path in
            let file = ["--nats-token-file", path]
            #expect(
                refusal(Self.needed + file + ["--nats-creds", path]).contains("--nats-creds and --nats-token-file")
            )
            let url = ["--cluster", "nats://user:secret@a", "--node", "n", "--nats-sync-verified"]
            let text = refusal(url + file)
            #expect(text.contains("--nats-token-file and a user or token in --cluster"))
            #expect(!text.contains("secret"))
            let options = try options(Self.needed + file)
            #expect(options != nil)
        }
    }

    @Test func `a file with credentials that cannot be used is refused`() throws {
        #expect(refusal(Self.needed + ["--nats-creds", "/no/such/file"]).contains("/no/such/file"))
        try withFile("") { path in
            #expect(refusal(Self.needed + ["--nats-token-file", path]).contains("is empty"))
            #expect(refusal(Self.needed + ["--nats-creds", path]).contains("has no user seed"))
        }
    }

    @Test func `a cluster without the shared key is refused`() throws {
        try #require(ProcessInfo.processInfo.environment["RIVULET_SECRET_KEY"] == nil)
        #expect(throws: ValidationError.self) { try NodeArguments.parse(Self.needed).options() }
    }

    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "rivulet-\(UUID())").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer {
            do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record(error) }
        }
        try body(path)
    }
}
