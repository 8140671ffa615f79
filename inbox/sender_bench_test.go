package inbox

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// BenchmarkSender reads who sends a request, as the server of NATS names a client across accounts.
func BenchmarkSender(b *testing.B) {
	const info = `{"start":"2026-01-02T03:04:05.678901234Z","host":"127.0.0.1","id":123,"acc":"billing","user":"token:ci","name":"billing service","lang":"go","ver":"1.48.0","rtt":1234567,"server":"carillon","kind":"Client","client_type":"nats"}`
	r := &Request{Header: nats.Header{SenderHeader: {info}}, HeaderBytes: len("NATS/1.0\r\n\r\n") + len(SenderHeader) + len(": \r\n") + len(info), senders: new(senders)}
	b.ReportAllocs()
	for b.Loop() {
		if account, user, err := r.Sender(); account != "billing" || user != "token:ci" || err != nil {
			b.Fatal(account, user, err)
		}
	}
}
