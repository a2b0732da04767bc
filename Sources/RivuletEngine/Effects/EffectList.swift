/// The effects of one dispatch, at least one.
///
/// Nearly every dispatch has none, and then there is no list: even the question whether an array is empty takes its metadata, where its
/// type is the app's.
package final class EffectList<Event: AppEvent>: Sendable {
    private let last: EventEffect<Event>
    private let earlier: EffectList?

    /// Appends an effect to the earlier ones.
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

    /// Whether the next event waits for any of them.
    package var holdsQueue: Bool { effects.contains { $0.effect.holdsQueue } }
}
