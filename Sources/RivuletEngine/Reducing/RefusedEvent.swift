/// The event at which a reducer threw an ``EventRejection``.
package struct RefusedEvent: Error, Hashable {
    /// Its place among the events of its transaction, from 0.
    package let index: Int
    package let eventName: String
    package let rejection: EventRejection

    package init(index: Int, eventName: String, rejection: EventRejection) {
        self.index = index
        self.eventName = eventName
        self.rejection = rejection
    }
}
