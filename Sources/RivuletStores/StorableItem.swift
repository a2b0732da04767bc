// Part of Rivulet. See README.md for the architecture.
// Owns what a value must be to be kept by the stored family.

/// What a store can hold: plain values that are read and written as JSON.
///
/// Types that are `JSONCodable` too are read and written through that, which is several times as fast.
/// Source: spec/systems.md E-01.
public typealias StorableItem = Codable & Sendable
