// Package oidc asks an issuer of OpenID Connect who a person is. It verifies tokens that the issuer has signed, and signs
// persons in by the code flow with PKCE.
//
// token.go takes a token apart, key.go reads the issuer's keys, signature.go verifies, claims.go checks what a token says.
// fetch.go reads documents of the issuer, discovery.go finds its addresses, keyring.go keeps its keys. issuer.go joins
// them, code.go has the code flow, and current.go keeps the issuer of the file of rights that is in force.
//
// # Bounds
//
// A token has at most [TokenBytesMax] bytes, and is decoded only up to its first fault. Nothing is asked of the issuer for
// a token that names another issuer. A token with a key that is unknown, or did not sign it, makes the keys be read again at most once in ten seconds,
// for all callers together; a caller waits for that at most five seconds. Documents of the issuer have at most 1 MiB.
//
// The keys are read again in the background when they are ten minutes old. While the issuer cannot be reached, known keys
// serve for a day.
package oidc
