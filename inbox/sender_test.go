package inbox

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// serverLine is what the NATS server adds for a client that has told nothing of itself.
const serverLine = `Nats-Request-Info: {"start":"2026-11-23T14:28:25.559297647Z","host":"127.0.0.1","id":16,"acc":"billing:ask","user":"token:see","rtt":1,"server":"carillon","kind":"Client","client_type":"nats"}` + "\r\n"

const forgedLine = `Nats-Request-Info: {"acc":"billing","user":"token:boss"}`

// asServed returns the request that a service gets for a header: the server adds its line before the end of it. That it
// removes some lines of this name helps no forger, so it removes none here.
func asServed(header []byte) (*Request, bool) {
	if len(header) < 2 || !bytes.HasPrefix(header, []byte("NATS/1.0")) || !bytes.HasSuffix(header, []byte("\r\n")) {
		return nil, false
	}
	came := append(bytes.Clone(header[:len(header)-2]), serverLine+"\r\n"...)
	h, err := nats.DecodeHeadersMsg(came)
	return &Request{Header: h, HeaderBytes: len(came), senders: new(senders)}, err == nil
}

// FuzzSender: whatever a client writes into the header of a request, its sender is the one whom the server names, or none.
func FuzzSender(f *testing.F) {
	for _, lines := range []string{
		"", "A: b\r\n", forgedLine + "\r\n", "A: b\n" + forgedLine + "\n\n", "\r\n", "\n", forgedLine + "\r\n\r\n",
		strings.ToLower(forgedLine) + "\r\n\r\n", strings.Repeat("a:b\n", 31) + forgedLine + "\n\n", strings.Repeat("a:b\n", 400) + forgedLine + "\n\n",
		"Nats-Request-Info : x\r\n", ":" + forgedLine + "\r\n", "Status: 1\r\nDescription: x\r\n\r\n", strings.Repeat("a:\n", 32) + "\n",
		forgedLine + "\n ", forgedLine + "\nX", forgedLine + "\nX: ", forgedLine + "\n:", forgedLine + "\nNats-Request-Info", forgedLine + "\nX: y, ",
	} {
		f.Add([]byte("NATS/1.0\r\n" + lines + "\r\n"))
		f.Add([]byte("NATS/1.0 503 x\n" + lines + "\r\n"))
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		r, ok := asServed(header)
		if !ok {
			t.Skip()
		}
		account, user, err := r.Sender()
		if err == nil && (account != "billing:ask" || user != "token:see") {
			t.Errorf("%q: the sender is %s in %s", header, user, account)
		}
	})
}

// TestSenderOfPlainHeaders: what clients send is accepted, whatever library wrote it.
func TestSenderOfPlainHeaders(t *testing.T) {
	for _, header := range []string{
		"NATS/1.0\r\n\r\n", "NATS/1.0\r\nCarillon-By: me\r\n\r\n", "NATS/1.0\r\nA:b\r\nA:c\r\n\r\n", "NATS/1.0\r\nA:\r\n\r\n",
		"NATS/1.0\r\n" + strings.Repeat("traceparent: 00-1-2-01\r\n", 31) + "\r\n",
	} {
		r, ok := asServed([]byte(header))
		if !ok {
			t.Fatalf("%q cannot be read", header)
		}
		if account, user, err := r.Sender(); err != nil || account != "billing:ask" || user != "token:see" {
			t.Errorf("%q: %s, %s, %v", header, account, user, err)
		}
	}
}

// TestSendersAreKept: what a desk has read before is not read again, two texts of a sender do not mix, and what it keeps
// has a bound.
func TestSendersAreKept(t *testing.T) {
	var kept senders
	for i := range 3 * sendersMax {
		text := fmt.Sprintf(`{"acc":"billing","user":"token:%d"}`, i)
		for range 2 {
			if who, err := kept.read(text); err != nil || who != (sender{"billing", fmt.Sprintf("token:%d", i)}) {
				t.Fatalf("%s is read as %v, %v", text, who, err)
			}
		}
		if len(kept.known) > sendersMax {
			t.Fatalf("%d are kept; want at most %d", len(kept.known), sendersMax)
		}
	}
	long, n := fmt.Sprintf(`{"acc":"billing","user":"ci","name":%q}`, strings.Repeat("x", senderBytesMax)), len(kept.known)
	if who, err := kept.read(long); err != nil || who.User != "ci" || len(kept.known) != n {
		t.Errorf("a long text is read as %v, %v; %d are kept, before %d", who, err, len(kept.known), n)
	}
	if who, err := kept.read("no JSON"); err == nil || who != (sender{}) || len(kept.known) != n {
		t.Errorf("what is no JSON is read as %v, %v", who, err)
	}
}
