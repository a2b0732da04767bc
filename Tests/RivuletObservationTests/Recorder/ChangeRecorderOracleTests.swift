// This file owns the oracle: random programs of writes. It compares the recorded changes with the whole JSON before and
// after.

import ChangeOracle
import RivuletJSON
import RivuletObservation
import Testing

@Suite
struct ChangeRecorderOracleTests {
    @Test(arguments: UInt64(0)..<60)
    func `the recorded changes are exactly the difference`(seed: UInt64) throws {
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
    func `a comparison of two states finds exactly the difference`(seed: UInt64) throws {
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

    // Compares bytes, because two strings that are equal in Swift may have different spellings, and a client sees the
    // spelling.
    private func check(_ recording: Recording, _ before: OracleRoot, _ after: OracleRoot, _ place: Comment) throws {
        let new = try JSONValue(parsing: after.jsonBytes())
        var applied = try JSONValue(parsing: before.jsonBytes())
        var durable = try JSONValue(parsing: before.jsonBytes(includesTransient: false))
        var replayed = before
        for change in recording.changes {
            let pointer = try JSONPointer(parsing: change.path)
            let path = pointer.tokens[...]
            let edited = try #require(
                try applied.applying(change, change.value),
                "\(place): \(change.path) can be made"
            )
            // An addition, a removal or a move of an element changes its collection.
            let around = change.operation == .replace ? path : path.dropLast()
            #expect(edited.bytes(at: around) != applied.bytes(at: around), "\(place): \(change.path) really differs")
            applied = edited
            if !change.isTransient {
                let stored = try #require(try durable.applying(change, change.durableValue ?? change.value), place)
                let isOther = stored.bytes(at: around) != durable.bytes(at: around)
                #expect(isOther, "\(place): \(change.path) really differs on disk")
                durable = stored
            }
            if let value = change.value {
                #expect(new.bytes(at: path) == value, "\(place): \(change.path) has its new value")
                var writer = JSONWriter()
                #expect(after.encodeJSON(at: path, into: &writer), place)
                #expect(writer.bytes == value, place)
            }
            var reader = JSONReader(change.value ?? [UInt8]("null".utf8))
            try replayed._$apply(change.operation, at: path, index: change.index, json: &reader)
        }
        #expect(applied.jsonBytes() == after.jsonBytes(), "\(place): the changes lead from before to after")
        #expect(durable.jsonBytes() == after.jsonBytes(includesTransient: false), "\(place): on disk too")
        #expect(replayed.jsonBytes() == after.jsonBytes(), "\(place): a replay gives the same state")
        checkCovering(recording.changes, place)
    }

    private func checkCovering(_ changes: [StateChange], _ place: Comment) {
        for (index, change) in changes.enumerated() where change.operation != .move {
            let isCovered = changes.enumerated().contains { other, outer in
                // A move does not replace the element, so the element's fields have their own changes.
                other != index && outer.operation != .move
                    && (change.path.utf8.elementsEqual(outer.path.utf8)
                        || change.path.utf8.starts(with: (outer.path + "/").utf8))
            }
            #expect(!isCovered, "\(place): \(change.path) is reported once")
        }
    }
}
