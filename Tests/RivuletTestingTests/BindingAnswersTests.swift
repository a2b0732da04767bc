// Checks the answers to writes to bound and unbound key paths.

import Foundation
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletTesting
import Testing

/// A seat that has a number, and one that has a UUID.
@ObservableState
struct Seat: Equatable, Sendable, Identifiable {
    var id = 0
    var guest = ""
}

@ObservableState
struct Voucher: Equatable, Sendable, Identifiable {
    var id = UUID()
    var value = 0
}

@ObservableState
struct Hall: PersistentState {
    var seats: Keyed<Seat> = []
    var vouchers: Keyed<Voucher> = []
    var prices: [String: Int] = [:]
}

@AppEvent
enum HallEvent {
    case build(Int)
    case issue(UUID)
    case take(seat: Int, guest: String)
    case worth(UUID, Int)
    case price(Int, Int)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct HallApp: AppDefinition {
    let name = "hall"
    let defaultState = AppState(t: EmptyTransient(), p: Hall())
    /// The numbers of seats that each have a separate binding.
    var namedSeats: [Int] = []
    var hasBindings = true

    var bindings: [StateBinding<HallEvent>] {
        guard hasBindings else { return [] }
        return [
            StateBinding("/p/seats/*/guest", HallEvent.take),
            StateBinding("/p/vouchers/*/value", HallEvent.worth),
            StateBinding("/p/prices/*", HallEvent.price),
        ] + namedSeats.map { seat in StateBinding("/p/seats/\(seat)/guest") { .take(seat: seat, guest: $0) } }
    }

    func reduce(into state: inout AppState<Hall, EmptyTransient>, event: HallEvent) throws {
        switch event {
        case .build(let id): state.p.seats.insert(Seat(id: id), at: 0)
        case .issue(let id): state.p.vouchers.insert(Voucher(id: id), at: 0)
        case .take(let seat, let guest):
            guard state.p.seats[id: seat] != nil else { throw RejectionError("there is no seat \(seat)") }
            state.p.seats[id: seat]?.guest = guest
        case .worth(let id, let value): state.p.vouchers[id: id]?.value = value
        case .price(let row, let price): state.p.prices["\(row)"] = price
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct BindingAnswersTests {
    private let session = "/v1/apps/hall/sessions/s"
    private let id = "0b6f5f1e-7c1b-4a53-9a55-0d6c1d0f2afe"

    private nonisolated(nonsending) func put(
        _ path: String,
        _ value: JSONValue,
        to client: TestClient
    ) async throws -> TestAnswer {
        try await client.send(
            "PUT",
            "\(session)/state\(path)",
            fields: ["Content-Type": "application/json"],
            body: Array("\(value)".utf8)
        )
    }

    @Test func `an element is written by an id of any type`() async throws {
        try await TestServer(HallApp()).run { client in
            _ = try await client.post("\(session)/events", json: [["build": 7], ["issue": .string(id)]])
            #expect(try await put("/p/seats/7/guest", "Ann", to: client).status == 200)
            #expect(try await put("/p/vouchers/\(id)/value", 5, to: client).status == 200)
            #expect(try await put("/p/prices/12", 90, to: client).status == 200)
            let state = try await client.get("\(session)/state/p").json()
            #expect(state["seats"]?[0]?["guest"] == "Ann" && state["vouchers"]?[0]?["value"] == 5)
            #expect(state["prices"] == ["12": 90])
        }
    }

    @Test func `a malformed id is refused as in a read, and the reducer refuses an unknown id`() async throws {
        try await TestServer(HallApp()).run { client in
            for path in ["/p/seats/x/guest", "/p/seats/07/guest", "/p/vouchers/\(id.uppercased())/value"] {
                let read = try await client.get("\(session)/state\(path)")
                let written = try await put(path, "x", to: client)
                #expect(read.status == 400 && written.status == 400)
                #expect(read.body == written.body, "\(path)")
            }
            // A dictionary permits any key, but the event takes numbers.
            #expect(try await put("/p/prices/first", 90, to: client).status == 404)
            let refused = try await put("/p/seats/8/guest", "Ann", to: client)
            #expect(refused.status == 422)
            #expect(try refused.json()["detail"] == "there is no seat 8")
        }
    }

    @Test(
        arguments: [
            (HallApp(), "binds /p/seats/*/guest, /p/vouchers/*/value, /p/prices/*"),
            (
                HallApp(namedSeats: Array(1...9)),
                "binds /p/seats/*/guest, /p/vouchers/*/value, /p/prices/*"
                    + (1...7).map { ", /p/seats/\($0)/guest" }.joined() + " and 2 more, which GET /v1/apps/hall lists"
            ),
            (HallApp(hasBindings: false), "declares no bindings"),
        ]
    )
    func `the refusal of an unbound write names the bound paths`(_ app: HallApp, _ words: String) async throws {
        try await TestServer(app).run { client in
            let answer = try await put("/p/seats", [], to: client)
            #expect(answer.status == 405 && answer[field: "Allow"] == "GET, HEAD, OPTIONS")
            #expect(
                try answer.json()["detail"]
                    == .string(
                        #"no binding is declared for the key path "/p/seats", so it is changed by events only; app "hall" \#(words)"#
                    )
            )
            let deleted = try await client.send("DELETE", "\(session)/state/p/seats")
            let refusal = "DELETE is not a method of this resource; it has GET, HEAD, OPTIONS"
            #expect(try deleted.json()["detail"] == .string(refusal))
        }
    }
}
