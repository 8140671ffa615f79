package testkit

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
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

// A LineConn is a connection over which lines go to and fro.
type LineConn struct {
	net.Conn
	In *bufio.Reader // of the connection
}

// NewLineConn returns lines over a connection, which is closed when the test ends.
func NewLineConn(t testing.TB, c net.Conn) LineConn {
	t.Cleanup(func() { _ = c.Close() })
	return LineConn{c, bufio.NewReader(c)}
}

// Say sends a line.
func (c LineConn) Say(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text+"\n"); err != nil {
		t.Fatal(err)
	}
}

// Hears reports whether the next line is text, and comes in time. A line that does not come in time is lost in part.
func (c LineConn) Hears(text string, within time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(within))
	got, err := c.In.ReadString('\n')
	return err == nil && strings.TrimSpace(got) == text
}
