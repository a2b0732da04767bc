/// The effects of one dispatch, at least one.
///
/// Nearly every dispatch has no effects, and then there is no list. An array would be slower: even a check for an empty
/// array needs the array's type metadata if the element type depends on the app.
package final class EffectList<Event: AppEvent>: Sendable {
    private let last: EventEffect<Event>
    private let earlier: EffectList?

    /// Creates a list of the earlier effects and one more.
    package init(_ effect: EventEffect<Event>, after earlier: EffectList? = nil) {
        last = effect
        self.earlier = earlier
    }

    /// The effects in the order of their events.
    package var effects: [EventEffect<Event>] {
        var reversed: [EventEffect<Event>] = []
        var rest: EffectList? = self
        while let list = rest {
            reversed.append(list.last)
            rest = list.earlier
        }
        return reversed.reversed()
    }

    /// True if the next event waits for any of the effects.
    package var holdsQueue: Bool { effects.contains { $0.effect.holdsQueue } }
}
