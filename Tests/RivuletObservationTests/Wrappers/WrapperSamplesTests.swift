// This file owns the tests of the wrapper samples from the README of system A (its seed). Only the comments of the
// samples are changed. Source: <Tests/Rows/Systems.md#libraries>

import RivuletObservation
import Testing

// The samples are private to this file, so that they do not hide Rivulet's own types in other files. Two samples cannot
// compile anywhere. The seed's first `Clamped` assigns its own parameter. Its `CustomPresentationState` sets `self` in
// an escaping closure of a `Binding` (which is SwiftUI's, too) and has no setter for `$field`. Rivulet's
// `PresentationState` does what that sample intends.

@propertyWrapper
private struct OmitCoding<T> {
    var wrappedValue: T

    init(wrappedValue: T) {
        self.wrappedValue = wrappedValue
    }
}

extension OmitCoding: ObservableWrapper {
    typealias WrappedValue = T
    typealias Config = Void

    static func makeWrapper(from value: T, config: Config) -> Self {
        OmitCoding(wrappedValue: value)
    }
}

private final class Ref<T> {
    var val: T
    init(_ val: T) { self.val = val }
}

@propertyWrapper
private struct Box<T: Equatable>: Equatable {
    private var ref: Ref<T>

    init(_ x: T) {
        self.ref = Ref(x)
    }

    var wrappedValue: T {
        get { ref.val }
        set {
            if !isKnownUniquelyReferenced(&ref) {
                ref = Ref(newValue)
                return
            }
            ref.val = newValue
        }
    }

    var projectedValue: Box<T> { self }

    // The sample lacks this function, and cannot be Equatable without it, because `Ref` is not Equatable.
    static func == (first: Self, second: Self) -> Bool { first.wrappedValue == second.wrappedValue }
}

extension Box: ObservableWrapper {
    typealias WrappedValue = T
    typealias Config = Void

    static func makeWrapper(from value: T, config: Config) -> Self {
        Box(value)
    }
}

@propertyWrapper
private struct Clamped<T: Comparable> {
    var wrappedValue: T
    let range: ClosedRange<T>

    init(wrappedValue: T, range: ClosedRange<T>) {
        self.wrappedValue = min(max(wrappedValue, range.lowerBound), range.upperBound)
        self.range = range
    }
}

extension Clamped: ObservableWrapper {
    typealias WrappedValue = T
    typealias Config = ClosedRange<T>

    static func makeWrapper(from value: T, config: Config) -> Self {
        Clamped(wrappedValue: value, range: config)
    }
}

@ObservableState
fileprivate struct Sample {
    @ObservableStateWrapper(OmitCoding<String?>.self)
    @ObservationStateIgnored
    var draftNote: String?

    @ObservableStateWrapper(Clamped<Int>.self, config: 0...100)
    @ObservationStateIgnored
    var percent: Int = 150

    @ObservableStateWrapper(Box<String?>.self)
    @ObservationStateIgnored
    var scratchNote: String? = nil

    @ObservableStateWrapper(Box<[Int]>.self)
    @ObservationStateIgnored
    var contacts: [Int]

    init(contacts: [Int]) {
        _contacts = Box.makeWrapper(from: contacts)
    }
}

@Suite
struct WrapperSamplesTests {
    @Test
    func `the seed's wrappers work as they are written`() {
        var state = Sample(contacts: [1])
        #expect(state.percent == 100)
        let copy = state
        let recording = ChangeRecorder.record(&state) { state in
            state.draftNote = "draft"
            state.percent -= 500
            state.scratchNote = "scratch"
            state.contacts.append(2)
        }
        // The sample does not declare the field as omitted, because `isOmittedFromCoding` is Rivulet's.
        let expected = ["/draftNote=\"draft\"", "/percent=0", "/scratchNote=\"scratch\"", "/contacts=[1,2]"]
        #expect(recording.changes.map(\.text) == expected)
        #expect(copy.contacts == [1])
    }
}
