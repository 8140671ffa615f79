package dispatch

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestReservedSubjects launches definitions of before, whose subjects are no targets: nothing is published, and
// another attempt would fail alike.
func TestReservedSubjects(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	subscribe(t, nc, ">", func(m *nats.Msg) {
		if !strings.HasPrefix(m.Subject, "_INBOX.") || len(m.Header) > 0 {
			t.Errorf("%s was published to", m.Subject)
		}
	})
	d := start(t, Options{Prefix: "bells", InboxPrefixes: []string{"_MINE_"}}, s.ClientURL())
	for subject, want := range map[string]string{
		"_INBOX.a.b": "_INBOX belong to NATS", "_INBOX_alice.b": "_INBOX belong to NATS", "_R_.a": "_R_ belong to NATS", "_GR_.a.b.c": "_GR_ belong to NATS",
		"_CINBOX.a": "_CINBOX belong to NATS", "$JS.API.INFO": "$ belong to NATS", "_MINE_bob.a": `"_MINE_" are inboxes of clients`,
		"bells.v1.default.jobs.delete": `under "bells" belong to Carillon`, "bells": `under "bells" belong to Carillon`,
	} {
		for _, kind := range []job.TargetKind{job.TargetNATS, job.TargetRequest, job.TargetJetStream} {
			o := testkit.Receive(t, launch(d, deliveryTo(job.Target{Kind: kind, Subject: subject}, 0)))
			if !strings.Contains(o.Error, want) || !o.Refused {
				t.Errorf("%s %s: outcome is %+v; want %q", kind, subject, o, want)
			}
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}
