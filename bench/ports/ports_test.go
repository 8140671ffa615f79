package ports

import (
	"net"
	"strconv"
	"testing"
)

// The addresses differ, a program can listen on them, and none is among those that a system gives to programs which ask
// for any port.
func TestFree(t *testing.T) {
	seen := make(map[string]bool)
	for range 20 {
		addrs, err := Free(5)
		if err != nil {
			t.Fatal(err)
		}
		for _, addr := range addrs {
			_, text, _ := net.SplitHostPort(addr)
			port, err := strconv.Atoi(text)
			if err != nil || seen[addr] || port < portMin || port >= portMax {
				t.Errorf("%s is returned twice, or outside the range: %v", addr, err)
			}
			seen[addr] = true
		}
		l, err := net.Listen("tcp", addrs[0])
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
