import Crypto
import CryptoExtras
import RivuletAuth

/// Fixed keys, made with openssl for these tests only.
enum TestKeys {
    static let secret: [UInt8] = (0..<32).map { $0 * 7 }
    static let otherSecret: [UInt8] = (0..<32).map { $0 * 7 + 1 }

    static func p256(_ seed: UInt8 = 1) throws -> P256.Signing.PrivateKey {
        try P256.Signing.PrivateKey(rawRepresentation: Array(repeating: seed, count: 32))
    }

    static func p384(_ seed: UInt8 = 1) throws -> P384.Signing.PrivateKey {
        try P384.Signing.PrivateKey(rawRepresentation: Array(repeating: seed, count: 48))
    }

    static func ed25519(_ seed: UInt8 = 1) throws -> Curve25519.Signing.PrivateKey {
        try Curve25519.Signing.PrivateKey(rawRepresentation: Array(repeating: seed, count: 32))
    }

    static func rsa(_ pem: String = rsaPrivatePEM) throws -> _RSA.Signing.PrivateKey {
        try _RSA.Signing.PrivateKey(pemRepresentation: pem)
    }

    static let rsaPrivatePEM = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQC8WdPQqyNcm115
        ncGrjDnzjrUDi9dvkR44i4KEJnf7VBeFJ1Y5XQsoDeY5giZZEs8F8E1mmrU18U3Z
        CBJTmveV2PzMHBAsxkrF5ljYO3BsfIYY7kPLRzl4zKV6MSJ7ZQoL00qRI8dmXgDn
        kAEcg7XPe3T1bgH2qec18VAmfY55i3Z/nDorLltzA8l2Lw/+SwqSqbttRCa+H4Fw
        asucyYR+i+JWNHSeRAqYZzxCTb77la7ge2ucrXrAV5HU8sWO+wT3pQNI2GWdodr1
        wTawvjbl3DMURN5k/uFoAHdoVudb3/Akai02jedCBT8ljbUsZJvysSz5HAN+4jWp
        SumqJbYHAgMBAAECggEADd3rK0y+QL4rhp2nuZKMXbMe/pDYHp2nhPA4frQ6VyWc
        ya/YuEZyYNONJKTBYANzfHNxr2EqgDswyQ7AEqmxGrYr/nb+dd1vedx4pArUPxh3
        4vP/x8KJp6whbrqZWE5bC/3VWpQwxQect2+xtUC5LPpg5QThXiCqJh2LEhpiV+5d
        R68dGSOeX7qfbWdyYKd7/zPyRydLpWuIh3IIhWMh5zrWcnyRx5nycmVxalKhwgDk
        8h2kGmLTje2Y2CfnP31xMfMBg/xjWv52iYt+hNfkp6w3JDZPB3L8hswOPwLZNLUQ
        qC7cdmQVFjVAyd+yodpQu619WrAimXtlwcuxRr5wIQKBgQDfELRHyua9po6/5sTJ
        BnJ9QM0D8ptUotxadDqZ2G0yoPkOQXrpP37222hKn5KTmllg43g4mSwP1QwDDY41
        YAl5Ul96UTSsDqNz+i3On4nujig++vmtIl/kK+Qgr9bo1f2/wbwEfhZuQ8CdOgqH
        KGFa9HXc0ohAYgY4GoOQ3L3ENwKBgQDYKQJT4aXRgsLdGNblf0Ey7WAPcTzp1otC
        aq0XpAOlaTu52oU3UaBOWRhr1p5NWwvdxbIrbNPRfccIjstdwiPcN+kVx/JIvTdN
        4ucS8iTen371nWG6laeIXJqPHeMKRauS88OBvKEY1qtnccYcXx1GFkEzYmZG7Tbd
        SfCfFGlUsQKBgQClaga2YmFfa97ZsbBl/jDybxZZAhRr2+WZ8izunw7DB5oJF0el
        Jh/pwWSCSfjxGfmDnsss9XE2QF+K+Adnz1LXM913oDZ2DNjrDS/g1G/9hk+T/Jsf
        56jCVEX0c1DkEqP8Chd6IWJS3E0+iqb5+VjQkQ3B9iFx1P8VpZvA1eCnWwKBgG3R
        D8Sru8Ff7D3FU8/OQcJsxEO0JN0ryR4Z8gwzoEKV3ukB8nHzPzzumLCYnV3xZmrp
        +CWFqWshuk9HtFvSuMM1iG4vYZDAyGsCXqDKch7D6w0/Qpo3U6C8Yy1YYrMiSBNl
        UisEONfUn8nzDFH3pHip77/6OrnH4/qyiNNY3FZRAoGBAJLfD/pBnSLkD4JHZ3bU
        dDkmALxY8/Sn3Ezt66JgMdlUy2Nvx+fsKi+MySC6lqrzZj58iaCQ5XSkhZLjq7z3
        1x6SRw+PHja2MzYnq48zU9S+xRWtr0z3D8TCtSGhvEVsZjjUbdsC8Eo29RYcb4bz
        +HupjIddCn2TlU+usBz2j/J+
        -----END PRIVATE KEY-----
        """

    static let otherRSAPrivatePEM = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDBl6BYiV1IcwV6
        WPSItZiBainYAaGPnObafbuoVBtqTYYUkQgDTaMzKwnLCJOgqCr1jR4jEBdoCRjs
        QbX6VvqFoyugv23a+Bo/vmGl7yT36N+UBcuJZOEHszP7IkYHrugg6UhpuQNjX0q4
        983l3zrfac2ZYuKEBc+4XfaLQmPEQTLquT4nmil/e2KHbrw/rcaLVD1z2GKLpX0D
        Fzn+knlf/J8bl3Q50a55hO1n+G2ogBMwoMeUSDtj5TsDd59UMviH/rPvexuNoNa0
        udqFtEkxcBX528NA4GrNBoDtANDjbPEX8DIUoTEgk1Rivwz6bbT6tAmYmRn6YZUw
        IODIY5wbAgMBAAECggEAGZUkct7ALYVJqYfc1L4Op7d0TR+2DmjhFul7pXxr3Qne
        mJQr12fok6fx1NtOyvG+L5HU9DQ5q51cJkhuuGTLGWLdLpJtfXzA10Cc3dUy8PHc
        rc5wPblPhXl4eozmbTh/Y24AjDwPRw/+K2BP3Ls5p/Fu4oCvR1wPPaFpJbEBxxrN
        cE1M8Q9y05hc+DeERt7tT7mgGXx1aIvoALx/S7CVkx72HSEPnVktROu1ZxPjRKtM
        WLGJu+lx+ly92uIMjrPbJIGmpoCmSLUcii8Td+h9rLvKidtAx58kIIDu3RlUM06p
        7xPm/CdF7ejJmslhPjeW/XmtdK5gcKoZiACZYBscTQKBgQD2XUrZ64yj1ynB6Gys
        rRu9yH5yRAJChI3nDtSLYa06p8GMO11n9B7EdVpsjsrqX2ra0Z5VC3aMYju8VHdI
        Q/+TgibMjL2ZayG3OPfhcwmFqmcVaNsdka5gFQZ/liYWHBPUbOkR6P7ZQOs2mVX/
        DFCbopFDy0Qmqb/kTmYRSg3TDwKBgQDJKfTZuRArx9LcEBpjc3Ayr8z5sgeNPC+8
        Af2o4ziYTvQb9ncQ+ZMXAMCn7qx5tN6flA63e8NlFXmpQqdh7wmd6gTrF0QZWb8R
        UNGxr+y89WlMi3OV1FMVAEz/MfzvlSzD/0rBhPDG5MssaqDY2mrOBlb6DXsbsSgu
        TLdqL+J2NQKBgANdTMtjEx2dr51NTkahapKR7WAkG5/K7aEtK6vnnpUBe3wtx13H
        ELCAJcb7wDupJ+1rFW115Z2PLd+pi6N6AkCCc4MxnNk+hExbQ89ZYdToedXqA6wI
        tEftoZQWeditc3vgLOKouuo+n7e0Kl98TJGDi9ZQLVMV2GAGzhAIYd3zAoGARNxJ
        5qXE9VenxJD2l4iSpacsQWVB1IT/yhncXQ2699g/E7tgsrzcLwmg6Vt4SwkxE+s4
        xnJlRpr9VIVuisWqwxWyrU7/jrX8A89omKyiG2TesMcjv+w4rH233buc295yvn0L
        eAcr7MmxCvlNKi5KVVAyQdKPi8EvAfpc5sqReOkCgYEA75f29kYEtdMN05AInlOA
        wxOPIAAaDpyz/vPjU52EEWV6/JT2km+sHHWgWeBag8aEcXLhIJxjEHyX/225iBUL
        kTMH82Vv23TzLZ9uNDgHBRp5Rphdqf9UxQ4K/FMr31nFXykiVDjrBSirOTe2YfBf
        FmjN0Utsxqg2QOUnx4B6sE4=
        -----END PRIVATE KEY-----
        """

    static let rsaPublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAvFnT0KsjXJtdeZ3Bq4w5
        8461A4vXb5EeOIuChCZ3+1QXhSdWOV0LKA3mOYImWRLPBfBNZpq1NfFN2QgSU5r3
        ldj8zBwQLMZKxeZY2DtwbHyGGO5Dy0c5eMylejEie2UKC9NKkSPHZl4A55ABHIO1
        z3t09W4B9qnnNfFQJn2OeYt2f5w6Ky5bcwPJdi8P/ksKkqm7bUQmvh+BcGrLnMmE
        foviVjR0nkQKmGc8Qk2++5Wu4HtrnK16wFeR1PLFjvsE96UDSNhlnaHa9cE2sL42
        5dwzFETeZP7haAB3aFbnW9/wJGotNo3nQgU/JY21LGSb8rEs+RwDfuI1qUrpqiW2
        BwIDAQAB
        -----END PUBLIC KEY-----
        """

    /// A key of RSASSA-PSS alone: openssl genpkey -algorithm RSA-PSS.
    static let pssPublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIDALBgkqhkiG9w0BAQoDggEPADCCAQoCggEBANUkpwycsaQQsQftvtY53ntK
        wDa4TRXxA3dGmC7SNGPifZ9lnxwcRL2Y6UgKgJGUJv0O2zbLIP+m7v0wts4vXITc
        F9RA1XDmXn6Dc8eCmeJaHsh3wr4acSZDEOl1bEgMiQpv+ZTmZKDch/97a/5yYh2P
        m+TewrhWjdkNGGMcIKXw+Y8SLkAFouF1M0jyKiQ2ZqOKE1RXHZG1fOyRnIEqZtsE
        YOgQMo4byrR7JdqCpVEmTnSTVpTTDv+TXEKhietke8cYIP/HL+HIMvq3gxQE6nMF
        TB8HUa3ZQj9lVxzTWQ9ikoDA/ZOC7GTQC+o20L3DeC5Km+OQbUOEzpuszO3xd9cC
        AwEAAQ==
        -----END PUBLIC KEY-----
        """

    static let shortRSAPublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDIQNSiEJ31eW+LDGLlDVrob2Rn
        KTGvkwolWM5N8DKXoNRJqB1GIshz+udmLSuG2iTv4qNqqsGuwH8cf23+P5BbnpSq
        VWL81JWuXPz6MVXI3w5vDt0BHa0epaqVhtnUJ7+Mg9/3ouAIMhq8IsnuX2KC3FgA
        1bqXeJV/w6rUad+JxwIDAQAB
        -----END PUBLIC KEY-----
        """

    static let p256PublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE4qG0CwUeZZItGWzGVjPtO+H0CF7S
        ASDdzd2WvOb4MIS1WW/5OQlcFjrtrkB8jsf0eoqAxpcqn/uUu+3ZWGAOLQ==
        -----END PUBLIC KEY-----
        """

    static let p384PublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEcFvfYN5d0LhDXeDN3Ehz/lxSolRr41Au
        ziiSEGLKGkNOcEhxLGzeOj8iUVsCEPpqFkv1I5Ka8IDLJoyqqRiJdf8FVnT+cAeT
        FpqskvoBaS7jWB24BKLLc6IOxgTX/r0j
        -----END PUBLIC KEY-----
        """

    static let ed25519PublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEA3NydYxXFnK2GL6iBd2z1SXF9rUqzNENSrMo4XRs468U=
        -----END PUBLIC KEY-----
        """

    static let certificatePEM = """
        -----BEGIN CERTIFICATE-----
        MIIBbTCCAROgAwIBAgIUfG93a208SVW6kiVx9x7Sr0wl5aYwCgYIKoZIzj0EAwIw
        DDEKMAgGA1UEAwwBeDAeFw0yNjExMjQwMTIzMDdaFw0yNjExMjUwMTIzMDdaMAwx
        CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATiobQLBR5lki0Z
        bMZWM+074fQIXtIBIN3N3Za85vgwhLVZb/k5CVwWOu2uQHyOx/R6ioDGlyqf+5S7
        7dlYYA4to1MwUTAdBgNVHQ4EFgQUPkSKhcEbSxGmdGP1MSAs/ainGRIwHwYDVR0j
        BBgwFoAUPkSKhcEbSxGmdGP1MSAs/ainGRIwDwYDVR0TAQH/BAUwAwEB/zAKBggq
        hkjOPQQDAgNIADBFAiBUAxA7BXZErQU8b28rF/4ZmBV6oL/6xQrd04nx49Z4aAIh
        AKJ+mMk6dfUlYkgqRLxHSeY8Er5AEZ7BL19j4xpQFgSs
        -----END CERTIFICATE-----
        """

}
