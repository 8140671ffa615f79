package bus

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// BenchmarkAcrossAccounts measures what the NATS server alone takes for a request from the account of a tenant, of which it
// names the caller: a round trip within an account, and one across accounts. The service only answers.
func BenchmarkAcrossAccounts(b *testing.B) {
	ours, theirs := server.NewAccount("ours"), server.NewAccount("theirs")
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, Accounts: []*server.Account{ours, theirs},
		Users: []*server.User{{Username: "ours", Account: ours}, {Username: "theirs", Account: theirs}},
	})
	if err != nil {
		b.Fatal(err)
	}
	s.Start()
	b.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(10 * time.Second) {
		b.Fatal("the server does not start")
	}
	ours, _ = s.LookupAccount("ours")
	theirs, _ = s.LookupAccount("theirs")
	for _, err := range []error{ours.AddServiceExport("account.>", nil), theirs.AddServiceImport(ours, "v1.>", "account.>"), theirs.SetServiceImportSharing(ours, "account.>", true)} {
		if err != nil {
			b.Fatal(err)
		}
	}
	connect := func(user string, options ...nats.Option) *nats.Conn {
		nc, err := nats.Connect(s.ClientURL(), append(options, nats.UserInfo(user, ""))...)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(nc.Close)
		return nc
	}
	service := connect("ours", nats.InProcessServer(s))
	for _, subject := range []string{"account.>", "v1.>"} {
		if _, err := service.Subscribe(subject, func(m *nats.Msg) { go func() { _ = m.Respond(make([]byte, 600)) }() }); err != nil {
			b.Fatal(err)
		}
	}
	if err := service.Flush(); err != nil {
		b.Fatal(err)
	}
	for name, nc := range map[string]*nats.Conn{"within": connect("ours"), "across": connect("theirs")} {
		b.Run(name, func(b *testing.B) {
			body := make([]byte, 250)
			for b.Loop() {
				if _, err := nc.Request("v1.jobs.put", body, time.Second); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
