package import RivuletJSON
package import RivuletStores

/// The facts about a secret that clients may know.
package enum SecretPresence: Hashable, Sendable {
    case absent
    case present
    /// A secret is stored, and none of the sealing keys opens it.
    case unreadable
}

/// A securely stored value that clients set and remove.
package protocol HostedSecret: Sendable {
    /// The shape of the value.
    var schema: JSONSchema { get }
    /// The collection of the secret, and the secret's key in that collection.
    var location: (collection: ItemCollection, key: String) { get }

    /// Replies with the presence of the secret.
    func read(_ reply: @escaping SharedReply<SecretPresence>)

    /// Seals and stores a secret; an error reveals nothing of the body but the position of the error.
    func set(_ body: [UInt8], reply: @escaping SharedReply<Void>)

    /// Seals the secret with the current sealing key if an older sealing key sealed it.
    ///
    /// The reply is true if the secret was sealed again.
    func reseal(_ reply: @escaping SharedReply<Bool>)

    /// Removes the secret.
    func remove(_ reply: @escaping SharedReply<Void>)
}
