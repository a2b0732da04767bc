import Synchronization

/// A place for the form in which an object is sent; the form lives as long as the object.
package struct SharedForm: ~Copyable, Sendable {
    private let form = Mutex<(any AnyObject & Sendable)?>(nil)

    /// The form, made now if it is the first of its type; other threads wait for it.
    package func value<Form: AnyObject & Sendable>(_ make: () -> Form) -> Form {
        form.withLock { form in
            if let form = form as? Form { return form }
            let made = make()
            form = made
            return made
        }
    }
}
