package testkit

import (
	"io"
	"net"
	"testing"
)

// Echo sends back what comes over each connection to a listener, until the test ends.
func Echo(t testing.TB, l net.Listener) {
	t.Helper()
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
}
