package client

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// offerText is an offer of a copy without files, in a session.
const offerText = `{"version":1,"session":"%","hash":"00000000000000000000000000000000","files":[]}`

func offer(m *nats.Msg, text string) {
	_ = m.RespondMsg(&nats.Msg{Data: []byte(text), Header: nats.Header{replyHeader: {ReplyBackupOpen}}})
}

func offerOf(session string) string { return strings.Replace(offerText, "%", session, 1) }

// TestOpeningIsRepeated: a request that a leader swallows is sent again. Of a leader that is only slow the first copy is
// used, and the others are given back; its refusal of a further copy does not count.
func TestOpeningIsRepeated(t *testing.T) {
	nc, _ := connections(t)
	c, err := New(nc, Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := &backupOpening{client: c, shard: 3, subject: "carillon.backup.3.open", body: []byte(`{"version":1}`), tryTime: 20 * time.Millisecond}
	var asked atomic.Int32
	closed := make(chan string, 1)
	slow := make([]*nats.Msg, 0, 2)
	for subject, answer := range map[string]nats.MsgHandler{
		o.subject: func(m *nats.Msg) {
			switch asked.Add(1) {
			case 1: // swallowed
			case 2, 3:
				slow = append(slow, m)
			case 4:
				offer(m, `{"version":1,"error":"2 backups are on their way already"}`)
			case 5:
				offer(slow[1], offerOf("b"))
				offer(slow[0], offerOf("a"))
			}
		},
		"carillon.backup.0.close.*": func(m *nats.Msg) { closed <- m.Subject },
	} {
		if _, err := nc.Subscribe(subject, answer); err != nil {
			t.Fatal(err)
		}
	}
	b, err := o.run(t.Context())
	if err != nil || b.Session != "b" && b.Session != "a" {
		t.Fatalf("after %d tries: %+v, %v", asked.Load(), b, err)
	}
	other := map[string]string{"a": "b", "b": "a"}[b.Session]
	if subject := testkit.Receive(t, closed); subject != "carillon.backup.0.close."+other {
		t.Errorf("closed %s; want the session %s", subject, other)
	}
	b.Close()
}

// TestOpeningEnds: the timeout bounds the request, whatever the leader does, and the error says what it waited for.
func TestOpeningEnds(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name    string
		opts    Options
		ctx     context.Context
		answer  nats.MsgHandler // nil: there is no leader
		want    string
		isCause error
	}{
		{"a leader that hangs", Options{Timeout: 100 * time.Millisecond}, t.Context(), func(*nats.Msg) {}, "the leader of shard 3 has not offered its copy", context.DeadlineExceeded},
		{"without repetitions", Options{Timeout: 100 * time.Millisecond, NoRetry: true}, t.Context(), func(*nats.Msg) {}, "the leader of shard 3", context.DeadlineExceeded},
		{"no leader", Options{Timeout: 100 * time.Millisecond}, t.Context(), nil, "shard 3 has no leader at the moment", nats.ErrNoResponders},
		{"a refusal", Options{}, t.Context(), func(m *nats.Msg) { offer(m, `{"version":1,"error":"no room"}`) }, "no room", nil},
		{"a caller that gives up", Options{}, cancelled, func(*nats.Msg) {}, "context canceled", context.Canceled},
	} {
		nc, _ := connections(t)
		if tc.answer != nil {
			if _, err := nc.Subscribe("carillon.backup.3.open", tc.answer); err != nil {
				t.Fatal(err)
			}
		}
		tc.opts.BulkTimeout = time.Second // is for other requests
		c, err := New(nc, tc.opts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.OpenBackup(tc.ctx, 3)
		if err == nil || !strings.Contains(err.Error(), tc.want) || tc.isCause != nil && !errors.Is(err, tc.isCause) {
			t.Errorf("%s: %v; want %q of %v", tc.name, err, tc.want, tc.isCause)
		}
	}
}
