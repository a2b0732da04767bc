import Synchronization

/// A weak hold on a view object, from any thread; generated code has one.
public final class ForwarderReceiver<Object: ObservableObject>: Sendable {
    private struct Contents {
        weak var object: Object?
        var hadObject = false
        var isRetired = false
    }

    private let contents = Mutex(Contents())

    /// Holds nothing yet.
    public init() {}

    /// The object, while somebody else keeps it.
    public var object: Object? {
        get { contents.withLock { $0.object } }
        set {
            // An object that ends here would come back to the lock.
            let old = contents.withLock { contents in
                let old = contents.object
                contents.object = newValue
                contents.hadObject = contents.hadObject || newValue != nil
                return old
            }
            _ = old
        }
    }

    /// Whether the object is gone, or somebody has said that the forwarder is done.
    ///
    /// One that has not had an object yet is waiting for it, and no zombie: upstream's forwarder was thrown out while it was.
    public var isZombie: Bool {
        get {
            let (object, hadObject, isRetired) = contents.withLock { ($0.object, $0.hadObject, $0.isRetired) }
            return isRetired || hadObject && object == nil
        }
        set { contents.withLock { $0.isRetired = newValue } }
    }
}
