// Tests Swift's Observation of a state through `ObservedState`, the object that owns the state.

import Observation
import RivuletObservation
import Synchronization
import Testing

@ObservableState
struct Screen: Equatable, Sendable {
    var title = "t"
    var count = 0
    var address = Address()
    var maybe: Address?
    var list: [Int] = []
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...100)
    @ObservationStateIgnored
    var percent: Int = 50
    @ObservableStateWrapper(Box<Address>.self)
    @ObservationStateIgnored
    var boxed: Address = Address()
    @ObservableStateWrapper(PresentationState<Address>.self, projected: true)
    @ObservationStateIgnored
    var alert: Address?
}

/// True if an observer of the values that `read` reads is notified of the writes of `write`.
func fires<Owner>(_ owner: Owner, reading read: (Owner) -> Void, writing write: (Owner) -> Void) -> Bool {
    let isTold = Mutex(false)
    withObservationTracking {
        read(owner)
    } onChange: {
        isTold.withLock { $0 = true }
    }
    write(owner)
    return isTold.withLock { $0 }
}

@Suite
struct ObservedStateTests {
    private typealias Owner = ObservedState<Screen>
    private let owner = Owner(Screen())

    @Test
    func `a field's observer is notified of that field only`() {
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count = 1 }))
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.title = "x" }))
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count = 1 }))
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count += 0 }))
    }

    @Test
    func `a comparison with an equal value is a read of the whole state`() {
        let before = Screen()
        let derived = owner.state.observe { $0.address.city.isEmpty || $0 == before }
        #expect(derived.keyPaths == ["", "/address/city"])
    }
}
