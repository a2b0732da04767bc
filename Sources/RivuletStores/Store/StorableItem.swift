/// What a store can hold: plain values that are read and written as JSON.
///
/// Types that are `JSONCodable` too are read and written through that, which is several times as fast.
/// Source: <Tests/Rows/Systems.md#e-01>.
public typealias StorableItem = Codable & Sendable
