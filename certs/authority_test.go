package certs

import (
	"crypto/tls"
	"testing"
	"time"
)

// TestLeafEndsWithItsAuthority: no certificate claims to be valid for longer than the authority that has issued it, as one
// that is made when the authority is old would.
func TestLeafEndsWithItsAuthority(t *testing.T) {
	ends := time.Now().Add(24 * time.Hour).Truncate(time.Second)
	made, err := NewAuthority("old", ends)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := made.PEM()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadAuthority(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	for wanted, want := range map[time.Time]time.Time{{}: ends, ends.AddDate(1, 0, 0): ends, ends.Add(-time.Hour): ends.Add(-time.Hour)} {
		cert, key, err := again.Issue(Wanted{Name: "a", Server: true, Ends: wanted})
		if err != nil {
			t.Fatal(err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		if !pair.Leaf.NotAfter.Equal(want) {
			t.Errorf("wanted until %v, the certificate ends at %v; want %v", wanted, pair.Leaf.NotAfter, want)
		}
	}
}
