package dispatch

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Frames of HTTP/2 (RFC 9113), as a target sends them.
const (
	frameSettings = "\x00\x00\x06\x04\x00\x00\x00\x00\x00" + "\x00\x04\x7f\xff\xff\xff" // streams may carry 2 GiB
	frameWindow   = "\x00\x00\x04\x08\x00\x00\x00\x00\x00" + "\x40\x00\x00\x00"         // and so may the connection, 1 GiB more
	frameMore     = "\x00\x00\x04\x08\x00\x00\x00\x00\x00" + "\x00\x00\x00\x01"         // one byte more
	frameHead     = "\x00\x00\x01\x01\x04\x00\x00\x00\x01" + "\x88"                     // status 200 on the first stream
	frameBody     = "\x00\x40\x00\x00\x00\x00\x00\x00\x01"                              // 16 KiB follow
)

// dialPipe returns a transport of real targets whose connections are pipes over which HTTP/2 is spoken. The other ends come on the channel.
func dialPipe() (*http.Transport, <-chan net.Conn) {
	targets := make(chan net.Conn, 10)
	transport := newTransports(Options{}.withDefaults()).common
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetUnencryptedHTTP2(true)
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		own, target := net.Pipe()
		targets <- target
		return own, nil
	}
	return transport, targets
}

// attemptHTTP2 makes an attempt with a timeout at the other end of a pipe, and returns how long it took.
func attemptHTTP2(t *testing.T, transport *http.Transport, timeout time.Duration, payload []byte) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://target.example", bytes.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	err = exchange(transport, req, job.Credentials{})
	return time.Since(begun), err
}

// TestHTTP2DroppedConnection has a connection that is dropped on the way: what is sent is lost, and nothing comes. Its attempts fail after ten
// seconds, long before their timeouts, and the next one has another connection.
func TestHTTP2DroppedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, targets := dialPipe()
		go func() {
			for range 2 {
				target := <-targets
				go io.Copy(io.Discard, target)
				_, _ = io.WriteString(target, frameSettings)
			}
		}()
		for range 2 {
			if took, err := attemptHTTP2(t, transport, time.Minute, []byte("hello")); took != 10*time.Second || err == nil {
				t.Errorf("an attempt took %s, with error %v", took, err)
			}
		}
	})
}

// TestHTTP2TargetThatReadsNothing has a target that stops reading in the middle of a request, and goes on sending, so that it never looks
// silent. The attempt ends by its timeout, and the connection, with all that waits for it, within two periods without a byte taken: a part of
// a frame may have been taken in the first.
func TestHTTP2TargetThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, targets := dialPipe()
		ended := make(chan time.Duration)
		go func() {
			target := <-targets
			go io.CopyN(io.Discard, target, 1<<20)
			_, err := io.WriteString(target, frameSettings+frameWindow)
			begun := time.Now()
			for time.Since(begun) < time.Minute && err == nil {
				time.Sleep(time.Second / 2)
				_, err = io.WriteString(target, frameMore)
			}
			ended <- time.Since(begun)
			target.Close()
		}()
		if took, err := attemptHTTP2(t, transport, time.Second, much); took != time.Second || err == nil {
			t.Errorf("the attempt took %s, with error %v", took, err)
		}
		if after := <-ended; after > 2*http2WriteMax+time.Second {
			t.Errorf("the connection ended after %s", after)
		}
	})
}

// TestHTTP2AnswerOverAStuckConnection answers a request before it has read it, with a body that must be acknowledged over the connection
// that is stuck. The attempt is over as soon as that write is given up. Here this is soon, as no clock can be turned past a mutex.
func TestHTTP2AnswerOverAStuckConnection(t *testing.T) {
	transport, targets := dialPipe()
	if max := transport.HTTP2.WriteByteTimeout; max != http2WriteMax {
		t.Errorf("writes may be stuck for %s", max)
	}
	transport.HTTP2.WriteByteTimeout = 50 * time.Millisecond
	go func() {
		target := <-targets
		go io.WriteString(target, frameSettings+frameWindow)
		_, _ = io.CopyN(io.Discard, target, 1<<20)
		_, err := io.WriteString(target, frameHead+frameBody+string(make([]byte, 16<<10)))
		for err == nil {
			_, err = io.WriteString(target, frameMore)
		}
	}()
	if took, err := attemptHTTP2(t, transport, waitMax, much); took >= waitMax/2 || err != nil {
		t.Errorf("the attempt took %s, with error %v", took, err)
	}
}
