public import RivuletObservation
import Synchronization

extension Generated {
    /// A weak reference to a view object that any thread can use.
    ///
    /// Each class with `@StateForwarder` has one.
    public final class ForwarderReceiver<Object: ObservableObject>: Sendable {
        private struct Contents {
            weak var object: Object?
            var hadObject = false
            var isRetired = false
        }

        private let contents = Mutex(Contents())

        /// Creates an empty receiver.
        public init() {}

        /// The object, as long as other code keeps it alive.
        public var object: Object? {
            get { contents.withLock { $0.object } }
            set {
                // The old object must not be released inside the lock, because its end could take the lock again.
                let old = contents.withLock { contents in
                    let old = contents.object
                    contents.object = newValue
                    contents.hadObject = contents.hadObject || newValue != nil
                    return old
                }
                _ = old
            }
        }

        /// True if the object is gone, or if the forwarder was marked as done.
        ///
        /// A receiver that has not had an object yet still waits for it and is not a zombie. The upstream
        /// implementation removed the forwarder in that case.
        public var isZombie: Bool {
            get {
                let (object, hadObject, isRetired) = contents.withLock { ($0.object, $0.hadObject, $0.isRetired) }
                return isRetired || hadObject && object == nil
            }
            set { contents.withLock { $0.isRetired = newValue } }
        }
    }
}
