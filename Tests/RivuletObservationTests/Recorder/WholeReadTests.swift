// This file owns the tests of observers that read a whole state by a comparison, a hash, JSON or Codable.

import Foundation
import Observation
import RivuletObservation
import Testing

@ObservableState
struct Album: Hashable, Sendable {
    var title = "t"
    var cover = Cover()
    var tracks: Keyed<Track> = []
    var shelf = Shelf.nowhere
    @ObservableStateWrapper(OmitCoding<Int>.self)
    @ObservationStateIgnored
    var plays: Int = 0
}

@ObservableState
struct Cover: Hashable, Sendable {
    var artist = "a"
    var ink = Ink()
}

@ObservableState
struct Ink: Hashable, Sendable {
    var color = "red"
}

@ObservableState
struct Track: Hashable, Identifiable, Sendable {
    var id = ""
    var length = 0
}

@ObservableState
enum Shelf: Hashable, Sendable {
    case nowhere
    case room(Ink)
}

@Suite
struct WholeReadTests {
    /// A way to read a whole value.
    enum Reading: CaseIterable {
        case comparison, hash, json, codable

        func callAsFunction<Value: Hashable & Encodable & JSONCodable>(_ value: Value) {
            switch self {
            case .comparison: _ = value == value
            case .hash: _ = value.hashValue
            case .json: _ = value.jsonBytes()
            case .codable: #expect(throws: Never.self) { try JSONEncoder().encode(value) }
            }
        }
    }

    private typealias Owner = ObservedState<Album>
    private let owner = Owner(Album(tracks: [Track(id: "a"), Track(id: "b")], shelf: .room(Ink())))

    @Test(arguments: Reading.allCases)
    func `a reader of a whole state is notified of every change within`(reading: Reading) {
        let writes: [(Owner) -> Void] = [
            { $0.state.title = "x" },
            { $0.state.title += "y" },
            { $0.state.cover.artist = "b" },
            { $0.state.cover.ink.color = "blue" },
            { $0.state.cover = Cover(artist: "c") },
            { $0.state.tracks[id: "a"]?.length = 1 },
            { $0.state.tracks.append(Track(id: "c")) },
            { $0.state.tracks.move(id: "c", to: 0) },
            { $0.state.tracks.remove(id: "c") },
            { $0.state.shelf.room?.color = "green" },
            { $0.state.shelf = .nowhere },
            { $0.state.plays = 1 },
        ]
        for (index, write) in writes.enumerated() {
            #expect(fires(owner, reading: { reading($0.state) }, writing: write), "write \(index)")
        }
    }

    @Test(arguments: Reading.allCases)
    func `a reader of a whole state is notified when the state is replaced`(reading: Reading) {
        #expect(fires(owner, reading: { reading($0.state) }, writing: { $0.state = Album() }))
        #expect(fires(owner, reading: { reading($0.state) }, writing: { $0.state = Album(cover: Cover(artist: "b")) }))
        func replace(_ album: inout Album) { album = Album() }
        #expect(fires(owner, reading: { reading($0.state) }, writing: { replace(&$0.state) }))
    }

    @Test(arguments: Reading.allCases)
    func `a reader of a whole nested state is notified of changes in that nested state only`(reading: Reading) {
        #expect(fires(owner, reading: { reading($0.state.cover) }, writing: { $0.state.cover.ink.color = "blue" }))
        #expect(fires(owner, reading: { reading($0.state.cover) }, writing: { $0.state.cover = Cover(artist: "z") }))
        #expect(!fires(owner, reading: { reading($0.state.cover) }, writing: { $0.state.title = "x" }))
        let element = fires(
            owner,
            reading: { $0.state.tracks[id: "a"].map { reading($0) } },
            writing: { $0.state.tracks[id: "a"]?.length = 7 }
        )
        #expect(element)
        let other = fires(
            owner,
            reading: { $0.state.tracks[id: "a"].map { reading($0) } },
            writing: { $0.state.tracks[id: "b"]?.length = 8 }
        )
        #expect(!other)
        #expect(fires(owner, reading: { reading($0.state.tracks) }, writing: { $0.state.tracks[id: "b"]?.length = 9 }))
        #expect(fires(owner, reading: { reading($0.state.shelf) }, writing: { $0.state.shelf.room?.color = "gray" }))
    }

    @Test
    func `an edited copy that is assigned back notifies readers of the whole state`() {
        let isTold = fires(
            owner,
            reading: { _ = $0.state == Album() },
            writing: { owner in
                var ink = owner.state.cover.ink
                ink.color = "blue"
                owner.state.cover.ink = ink
            }
        )
        #expect(isTold)
    }

    @Test
    func `a write of an equal value does not notify readers of the whole state`() {
        #expect(!fires(owner, reading: { _ = $0.state.hashValue }, writing: { $0.state.title = "t" }))
        #expect(!fires(owner, reading: { _ = $0.state.hashValue }, writing: { $0.state.cover.ink.color = "red" }))
        #expect(!fires(owner, reading: { _ = $0.state.cover.hashValue }, writing: { $0.state = $0.state }))
        #expect(
            !fires(owner, reading: { _ = $0.state.tracks.count }, writing: { $0.state.tracks[id: "a"]?.length = 4 })
        )
    }

    @Test
    func `an edit of a copy that is taken after the read notifies readers of the outer state`() {
        let owner = Owner(Album())
        let isTold = fires(
            owner,
            reading: { _ = $0.state.jsonBytes() },
            writing: { owner in
                var copy = owner.state.cover
                copy.ink.color = "blue"
            }
        )
        #expect(isTold)
    }

    @Test
    func `a reader of a whole observable value is notified of every change`() {
        final class Holder {
            var value = Counted()
        }
        let holder = Holder()
        #expect(fires(holder, reading: { _ = $0.value == $0.value }, writing: { $0.value.count += 1 }))
        #expect(fires(holder, reading: { _ = $0.value == $0.value }, writing: { $0.value.child.g = 1 }))
        #expect(fires(holder, reading: { _ = $0.value.child.hashValue }, writing: { $0.value.child.label = "x" }))
        #expect(!fires(holder, reading: { _ = $0.value.child.hashValue }, writing: { $0.value.title = "x" }))
    }
}
