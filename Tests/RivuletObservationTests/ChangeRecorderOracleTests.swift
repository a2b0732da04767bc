// Part of Rivulet. See README.md for the architecture.
// This file owns the oracle: random programs of writes, and what was recorded against the whole JSON before and after.

import RivuletJSON
import RivuletObservation
import Testing

@Suite
struct ChangeRecorderOracleTests {
    @Test(arguments: UInt64(0)..<150)
    func `what was recorded is exactly the difference`(seed: UInt64) throws {
        var program = OracleProgram(seed: seed)
        var state = OracleRoot(t: OracleNode(), p: OracleNode())
        for run in 0..<40 {
            let before = state
            do {
                let recording = try ChangeRecorder.record(&state) { try program.run(&$0) }
                try check(recording, before, state, "seed \(seed), run \(run)")
            } catch is OracleInterruption {
                let place: Comment = "seed \(seed), run \(run): a throw leaves the state as it was"
                #expect(state.jsonBytes() == before.jsonBytes(), place)
            }
        }
    }

    @Test(arguments: UInt64(1000)..<1020)
    func `whole comparison finds exactly the difference`(seed: UInt64) throws {
        var program = OracleProgram(seed: seed)
        var state = OracleRoot(t: OracleNode(), p: OracleNode())
        var older = state
        for run in 0..<40 {
            let before = state
            do { try program.run(&state) } catch { state = before }
            let changes = ChangeRecorder.differences(from: older, to: state)
            try check(Recording(changes: changes), older, state, "seed \(seed), run \(run)")
            if program.chance(3) { older = state }
        }
    }

    // Compares bytes: two strings that are equal in Swift may be spelled differently, and a client sees the spelling.
    private func check(_ recording: Recording, _ before: OracleRoot, _ after: OracleRoot, _ place: Comment) throws {
        let old = try JSONValue(parsing: before.jsonBytes())
        let new = try JSONValue(parsing: after.jsonBytes())
        var applied = old
        var durable = try JSONValue(parsing: before.jsonBytes(includesTransient: false))
        var replayed = before
        for change in recording.changes {
            let pointer = try JSONPointer(parsing: change.path)
            let value = try JSONValue(parsing: #require(change.value, place))
            #expect(old[pointer]?.jsonBytes() != value.jsonBytes(), "\(place): \(change.path) really differs")
            #expect(new[pointer]?.jsonBytes() == value.jsonBytes(), "\(place): \(change.path) has its new value")
            applied = applied.replacing(pointer.tokens[...], with: value)
            if !change.isTransient {
                let stored = try JSONValue(parsing: #require(change.durableValue ?? change.value, place))
                let earlier = durable[pointer]?.jsonBytes()
                #expect(earlier != stored.jsonBytes(), "\(place): \(change.path) really differs on disk")
                durable = durable.replacing(pointer.tokens[...], with: stored)
            }
            var writer = JSONWriter()
            #expect(after.encodeJSON(at: pointer.tokens[...], into: &writer), place)
            #expect(writer.bytes == change.value, place)
            var reader = JSONReader(try #require(change.value, place))
            try replayed._$replace(at: pointer.tokens[...], json: &reader)
        }
        #expect(applied.jsonBytes() == after.jsonBytes(), "\(place): the changes lead from before to after")
        #expect(durable.jsonBytes() == after.jsonBytes(includesTransient: false), "\(place): on disk too")
        #expect(replayed.jsonBytes() == after.jsonBytes(), "\(place): a replay gives the same state")
        let pointers = try recording.changes.map { try JSONPointer(parsing: $0.path) }
        for (index, pointer) in pointers.enumerated() {
            let isCovered = pointers.enumerated().contains { $0.offset != index && $0.element.isPrefix(of: pointer) }
            #expect(!isCovered, "\(place): \(pointer) is reported once")
        }
    }
}

extension JSONValue {
    /// This value with another one at a path, which must be there.
    func replacing(_ path: ArraySlice<String>, with value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { member in
                guard member.name == name else { return member }
                return Member(name: name, value: member.value.replacing(path.dropFirst(), with: value))
            }
        )
    }
}
