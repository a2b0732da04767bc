// Checks the cookie of a sign-in, and the resources that read it.

import RivuletAuth
import RivuletHTTP
import RivuletJSON
import Testing

@testable import RivuletServer

@Suite struct LoginCookieTests {
    private func principal(
        _ credential: Principal.Credential = .token(id: nil, keyID: nil),
        expires: Int? = 1_000
    ) -> Principal {
        Principal(
            subject: "alice",
            issuer: nil,
            credential: credential,
            issuedAt: 900,
            expires: expires,
            grants: [],
            claims: .object([])
        )
    }

    private func fields(
        _ transport: LoginCookie.Transport,
        bytes: Int = 1,
        of principal: Principal,
        now: Int = 990
    ) throws -> [String] {
        let token = Array(repeating: UInt8(ascii: "x"), count: bytes)
        return try LoginCookie(token, of: principal, over: transport).fields(now: now).map {
            "\($0.name): \($0.value)"
        }
    }

    @Test func `each cookie is set under its own name, and removes the other one`() throws {
        #expect(
            try fields(.tls, of: principal()) == [
                "Set-Cookie: __Host-rivulet=x; Max-Age=604810; Path=/; HttpOnly; SameSite=Strict; Secure",
                "Set-Cookie: rivulet-token=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
            ]
        )
        #expect(
            try fields(.loopback, of: principal()) == [
                "Set-Cookie: rivulet-token=x; Max-Age=604810; Path=/; HttpOnly; SameSite=Strict",
                "Set-Cookie: __Host-rivulet=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure",
            ]
        )
    }

    @Test func `a cookie outlives its token by a week, also within the leeway of the clocks`() throws {
        #expect(try fields(.tls, of: principal(), now: 1_003)[0].contains("; Max-Age=604800;"))
    }

    @Test(arguments: LoginCookie.Transport.allCases)
    func `only a token of at most 4,000 bytes is a cookie, and none is sent in the clear`(
        _ transport: LoginCookie.Transport
    ) throws {
        let isPossible = transport != .plain
        #expect((try? fields(transport, bytes: 4_000, of: principal())) != nil || !isPossible)
        for (bytes, principal) in [
            (4_001, principal()), (1, principal(.apiKey(id: "a"))), (1, principal(expires: nil)),
        ] {
            let error = #expect(throws: Problem.self) { try fields(transport, bytes: bytes, of: principal) }
            #expect(error?.type == .loginRefused)
        }
        guard !isPossible else { return }
        #expect(throws: Problem.self) { try fields(transport, of: principal()) }
    }

    @Test func `the removal has both names`() {
        #expect(LoginCookie.cleared.map { $0.value.prefix { $0 != "=" } } == ["__Host-rivulet", "rivulet-token"])
        #expect(LoginCookie.cleared.allSatisfy { $0.value.contains("=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict") })
    }

    @Test(arguments: [
        ("localhost", true), ("LOCALHOST:8080", true), ("a.localhost", true), ("localhost.", true), ("127.9.9.9", true),
        ("[::1]:80", true), ("localhost.a.example", false), ("10.0.0.1", false), ("[::2]", false), ("", false),
        ("notlocalhost", false),
    ])
    func `a host of this machine is a loopback name or address`(_ host: String, _ isLoopback: Bool) {
        #expect(HostList.isLoopback(host) == isLoopback)
    }

    @Test(arguments: Resource.allCases)
    func `admission reads the cookie for the resources that say so`(_ resource: Resource) throws {
        #expect(Admission.readsCookie(resource.exampleSegments) == resource.readsCookie)
        #expect(try Route(segments: resource.exampleSegments).resource == resource)
    }

    @Test func `a path without a resource reads the cookie below v1 only`() {
        #expect(Admission.readsCookie(["v1", "login", "a"]) && Admission.readsCookie(["v1", "none"]))
        #expect(!Admission.readsCookie(["login"]) && !Admission.readsCookie([""]))
    }
}
