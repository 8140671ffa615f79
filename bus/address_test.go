package bus

import (
	"net"
	"testing"
)

// TestReachable: a server that listens on all addresses is reached by the loopback address.
func TestReachable(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:7272": "127.0.0.1:7272", "[::]:7272": "127.0.0.1:7272", ":7272": "127.0.0.1:7272",
		"127.0.0.2:7272": "127.0.0.2:7272", "[::1]:7272": "[::1]:7272",
	} {
		addr, err := net.ResolveTCPAddr("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		if got := Reachable(addr); got != want {
			t.Errorf("%s is reached at %s, want %s", listen, got, want)
		}
	}
}
