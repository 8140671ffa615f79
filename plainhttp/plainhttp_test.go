package plainhttp

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestSwitchingServers asks a server that changes the protocol and keeps the connection open: the client has an error at once, and
// the connection ends.
func TestSwitchingServers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ended := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r := bufio.NewReader(conn)
		_, _ = http.ReadRequest(r)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n")
		_, err = r.ReadByte()
		ended <- err
	}()
	client := &http.Client{Transport: Over(&http.Transport{}), Timeout: time.Minute}
	if resp, err := client.Get("http://" + l.Addr().String()); !errors.Is(err, ErrSwitches) {
		t.Errorf("answer %v, error %v", resp, err)
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("the connection ended with %v", err)
	}
	client.CloseIdleConnections()
}
