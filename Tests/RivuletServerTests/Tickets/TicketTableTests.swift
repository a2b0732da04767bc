// Checks the life of tickets with a clock of the test: opening, spending, opening again, and the limits of the table.

import RivuletAccess
import RivuletAuth
import RivuletHTTP
import RivuletJSON
import Testing

@testable import RivuletServer

@Suite struct TicketTableTests {
    private static let target = TicketTarget(["v1", "a"], [])
    private let start: Int64 = 1_000_000

    private func identity(expires: Int? = nil) -> Identity {
        let principal = Principal(
            subject: "alice",
            issuer: nil,
            credential: .token(id: nil, keyID: nil),
            issuedAt: nil,
            expires: expires,
            grants: [],
            claims: .object([])
        )
        return Identity(principal, Caller(subject: "alice", me: "m"), [])
    }

    private func insert(
        _ name: String,
        into table: inout TicketTable,
        me: String = "m",
        expires: Int? = nil,
        now: Int64? = nil
    ) -> Int64 {
        table.insert(
            TicketID(name),
            of: identity(expires: expires),
            me: me,
            generation: 3,
            for: Self.target,
            now: now ?? start
        )
    }

    /// The outcome of an opening: `opens`, or the fault.
    private func open(
        _ name: String,
        in table: inout TicketTable,
        target: TicketTarget = target,
        generation: UInt64 = 3,
        after milliseconds: Int64 = 0
    ) -> String {
        do throws(TicketError) {
            _ = try table.open(TicketID(name), for: target, generation: generation, now: start + milliseconds)
            return "opens"
        } catch {
            return "\(error)"
        }
    }

    @Test func `a ticket opens within 30 seconds, once`() {
        var table = TicketTable()
        #expect(insert("a", into: &table) == start + 30_000)
        #expect(insert("b", into: &table) == start + 30_000)
        #expect(open("c", in: &table) == "unknown")
        #expect(open("a", in: &table, after: 30_000) == "late")
        #expect(open("a", in: &table, after: 29_999) == "opens")
        #expect(open("a", in: &table) == "spent")
        #expect(open("b", in: &table) == "opens")
    }

    @Test func `a ticket that does not fit is not spent`() {
        var table = TicketTable()
        _ = insert("a", into: &table)
        #expect(open("a", in: &table, target: TicketTarget(["v1", "b"], [])) == "target")
        #expect(open("a", in: &table, generation: 4) == "reloaded")
        #expect(open("a", in: &table) == "opens")
    }

    @Test func `a ticket whose stream has not begun opens again in its time`() throws {
        var table = TicketTable()
        _ = insert("a", into: &table)
        let first = try table.open(TicketID("a"), for: Self.target, generation: 3, now: start)
        #expect(open("a", in: &table) == "spent")
        table.giveBack(first.id)
        #expect(open("a", in: &table, after: 30_000) == "late")
        #expect(open("a", in: &table, after: 29_999) == "opens")
        #expect(open("a", in: &table) == "spent")
    }

    @Test func `its credential is the end of it`() {
        var table = TicketTable()
        #expect(insert("a", into: &table, expires: 1_010) == start + 10_000)
        #expect(open("a", in: &table, after: 10_000) == "late")
        #expect(open("a", in: &table, after: 9_999) == "opens")
    }

    @Test func `a caller's oldest ticket makes room, and those that are over go first`() {
        var table = TicketTable()
        for number in 0..<TicketTable.ticketsPerCallerMax { _ = insert("\(number)", into: &table) }
        _ = insert("other", into: &table, me: "n")
        _ = insert("next", into: &table)
        #expect(table.count == TicketTable.ticketsPerCallerMax + 1)
        #expect(open("0", in: &table) == "unknown" && open("1", in: &table) == "opens")
        #expect(open("other", in: &table) == "opens" && open("next", in: &table) == "opens")
        // Of this caller, all others were opened or were not opened in time.
        _ = insert("late", into: &table, now: start + 30_000)
        #expect(table.count == 2)
        #expect(open("1", in: &table) == "unknown" && open("other", in: &table) == "spent")
    }

    @Test func `a full table forgets what is over, and then the oldest eighth`() {
        var table = TicketTable(ticketsMax: 16)
        for number in 0..<16 { _ = insert("\(number)", into: &table, me: "\(number)") }
        _ = insert("x", into: &table, me: "x")
        #expect(table.count == 15)
        #expect(open("1", in: &table) == "unknown" && open("2", in: &table) == "opens")
        _ = insert("y", into: &table, me: "y")
        _ = insert("z", into: &table, me: "z", now: start + 30_000)
        #expect(table.count == 1)
        #expect(open("2", in: &table) == "unknown")
    }

    @Test func `a target is its segments and all its parameters, byte for byte`() {
        func target(_ text: String) throws -> TicketTarget {
            let target = try #require(HTTPTarget(text))
            return TicketTarget(target.pathSegments, target.queryItems)
        }
        #expect(throws: Never.self) {
            let one = try target("/v1/a?path=/p&path=/q&interval=5")
            #expect(try target("/v1/a?interval=5&path=%2Fq&path=/p&ticket=x") == one)
            for other in [
                "/v1/a", "/v1/a?path=/p&path=/q", "/v1/a?path=/p&path=/p&interval=5",
                "/v1/a?path=/p/&path=q&interval=5",
                "/v1/b?path=/p&path=/q&interval=5", "/v1/a/?path=/p&path=/q&interval=5",
                "/v1%2Fa?path=/p&path=/q&interval=5",
                "/v1/a?path=/p&path=/q&interval=5&interval=5",
            ] {
                #expect(try target(other) != one, "\(other)")
            }
            // Two texts that Swift takes for equal are two parameters.
            #expect(try target("/v1/a?a=%C3%A9") != target("/v1/a?a=e%CC%81"))
        }
    }
}
