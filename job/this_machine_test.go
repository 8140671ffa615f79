package job

import "testing"

// TestIsThisMachine: names are not looked up, and those that merely begin or end like localhost are others.
func TestIsThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "localhost.": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "[::1]": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example.com": false, "a.localhost": false, "localhost:80": false, "10.0.0.1": false, "0.0.0.0": false, "::": false, "127.0.0.1.example.com": false,
	} {
		if got := IsThisMachine(host); got != want {
			t.Errorf("%q: %t, want %t", host, got, want)
		}
	}
}
