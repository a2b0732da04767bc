// Tests the keys of Bodega's storage engines against values that Bodega computed.

import Foundation
import RivuletStores
import Testing

@Suite struct CacheKeyTests {
    @Test func `E-27: the value of a text is its MD5 in groups of upper-case digits`() {
        #expect(CacheKey("cache-key").value == "2536A137-81F3-3E55-574F-AFF9ACB9F995")
        #expect(CacheKey("").value == "D41D8CD9-8F00-B204-E980-0998ECF8427E")
        #expect(CacheKey(verbatim: "../x").value == "../x")
    }

    @Test(arguments: [
        ("https://www.redpanda.club", "redpanda.club"),
        ("http://redpanda.club/", "redpanda.club"),
        ("https://www.a.www.b.club/x/?q=www.c#f", "a.b.club/x/?q=c#f"),
        ("https://a.club//", "a.club/"),
        ("mailto:a@b.club", "a@b.club"),
    ])
    func `E-27: the value of a URL is the hash of the URL without scheme, outer slashes and www`(
        _ url: String,
        _ plain: String
    ) throws {
        let key = CacheKey(url: try #require(URL(string: url)))
        #expect(key.value == CacheKey(plain).value)
        #expect(key.rawValue == url)
    }

    @Test func `E-27: a URL has the same value as in Bodega`() throws {
        let url = try #require(URL(string: "https://www.redpanda.club"))
        #expect(CacheKey(url: url).value == "37E97C2D-25C0-19AE-755D-FC39211AEE32")
    }

    @Test func `E-27: keys keep their text, and are equal if text and value are equal`() throws {
        let text = "https://www.redpanda.club"
        let keys = [CacheKey(text), CacheKey(verbatim: text), CacheKey(url: try #require(URL(string: text)))]
        #expect(keys.map(\.rawValue) == [text, text, text])
        #expect(Set(keys).count == 3)
        #expect(CacheKey("é") != CacheKey("e\u{301}"))
        #expect(CacheKey("a") == CacheKey("a"))
        let copies = try JSONDecoder().decode([CacheKey].self, from: JSONEncoder().encode(keys))
        #expect(copies == keys)
    }
}
