package import RivuletJSON
package import RivuletStores

/// What clients may know of a secret.
package enum SecretPresence: Hashable, Sendable {
    case absent
    case present
    /// There is one, and none of the keys opens it.
    case unreadable
}

/// A securely stored value that clients set and remove.
package protocol HostedSecret: Sendable {
    /// The shape of the value.
    var schema: JSONSchema { get }
    /// Where it is kept, and under which key.
    var place: (collection: ItemCollection, key: String) { get }

    /// Tells whether there is one.
    func read(_ reply: @escaping SharedReply<SecretPresence>)

    /// Seals and stores one; no error says anything of the body but where it is wrong.
    func set(_ body: [UInt8], reply: @escaping SharedReply<Void>)

    /// Seals it with the current key where it is sealed with an older one; gives whether it was.
    func reseal(_ reply: @escaping SharedReply<Bool>)

    /// Removes it.
    func remove(_ reply: @escaping SharedReply<Void>)
}
