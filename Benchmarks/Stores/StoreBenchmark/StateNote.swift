// An item that is read through its own JSON.

import RivuletJSON
import RivuletObservation

/// A note of about 200 bytes that is JSONCodable.
@ObservableState
struct StateNote: Identifiable, Sendable {
    var id: String
    var title: String
    var body: String
    var isDone: Bool
}
