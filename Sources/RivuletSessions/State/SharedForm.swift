import Synchronization

/// A cache for the form in which an object is sent; the form lives as long as the object.
package struct SharedForm: ~Copyable, Sendable {
    private let form = Mutex<(any AnyObject & Sendable)?>(nil)

    /// Returns the form; calls `make` if there is no form of this type yet.
    ///
    /// Other threads that ask for the form wait until it is made.
    package func value<Form: AnyObject & Sendable>(_ make: () -> Form) -> Form {
        form.withLock { form in
            if let form = form as? Form { return form }
            let made = make()
            form = made
            return made
        }
    }
}
