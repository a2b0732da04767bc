/// The reason that a policy cannot be used: one line that names the place and the fix.
package struct AccessPolicyError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
