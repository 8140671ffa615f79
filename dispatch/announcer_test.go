package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// withEvents are options for tests: the server sets no gigabyte aside.
var withEvents = AnnouncerOptions{Origin: testOrigin, Events: EventOptions{Enabled: true, MaxBytes: 8 << 20}}

// testOrigin is whose data the tests announce.
const testOrigin = "0123abcd"

// startAnnouncer returns an announcer over a connection that ends with the test.
func startAnnouncer(t testing.TB, o AnnouncerOptions, url string, options ...nats.Option) *Announcer {
	t.Helper()
	options = append([]nats.Option{nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0)}, options...)
	n, err := ConnectNATS(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	o.Origin = cmp.Or(o.Origin, testOrigin)
	a, err := NewAnnouncer(n, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// eventOf is the n-th event of a test.
func eventOf(n int) Announcement {
	return Announcement{
		Notice: job.Notice{
			ID: job.NoticeID{LSN: 900, Seq: uint32(n)}, Event: true, At: 1764576001000,
			Run: job.RunID{Job: 7, At: 1764576000000 + instant.Millis(n)}, Status: job.StatusRunning, Attempt: 1, Fence: 900,
			Tenant: "acme", Name: "billing/daily",
		},
	}
}

// deadOf is the n-th dead letter of a test.
func deadOf(n int) Announcement {
	a := eventOf(n)
	a.Event, a.Dead, a.Status, a.Attempt = false, true, job.StatusDead, 3
	a.Error = "HTTP 503: away"
	a.Target = job.Target{Kind: job.TargetHTTP, URL: "https://Example.com/hook?token=s3cret"}
	a.Payload, a.PayloadJSON = fmt.Appendf(nil, `{"n":%d}`, n), true
	a.Headers = []job.Pair{{Key: "X-Team", Value: "billing"}, {Key: "traceparent", Value: "00-1"}}
	return a
}

func announcements(n int, of func(int) Announcement) (batch []Announcement) {
	for i := range n {
		batch = append(batch, of(i))
	}
	return batch
}

// announceAll wants all of a batch to be safe at once.
func announceAll(t *testing.T, a *Announcer, batch []Announcement) {
	t.Helper()
	if n, err := a.Announce(t.Context(), batch); n != len(batch) || err != nil {
		t.Fatalf("%d of %d are announced: %v", n, len(batch), err)
	}
}

// stored returns the messages of a stream.
func stored(t *testing.T, url, stream string) (messages []*jetstream.RawStreamMsg) {
	t.Helper()
	js, err := jetstream.New(dial(t, url))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range s.CachedInfo().State.LastSeq {
		m, err := s.GetMsg(t.Context(), seq+1)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	return messages
}

func TestAnnouncerOptionsAreChecked(t *testing.T) {
	s := startNATS(t, nil)
	n, err := ConnectNATS(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	bad := []AnnouncerOptions{
		{}, {Origin: "a.b"}, {Origin: "o", Prefix: "a..b"}, {Origin: "o", Prefix: "*"}, {Origin: "o", Prefix: "a b"},
		{Origin: "o", Events: EventOptions{Stream: "a.b"}},
		{Origin: "o", Events: EventOptions{MaxAge: time.Millisecond}}, {Origin: "o", Events: EventOptions{MaxBytes: -1}},
	}
	for _, o := range bad {
		if _, err := NewAnnouncer(n, o); err == nil {
			t.Errorf("options %+v are accepted", o)
		}
	}
	n.Close()
	if _, err := NewAnnouncer(n, withEvents); err == nil {
		t.Error("a closed connection is accepted")
	}
	if a, err := NewAnnouncer(n, AnnouncerOptions{Origin: testOrigin}); err != nil {
		t.Error(err)
	} else if _, err := a.Announce(t.Context(), []Announcement{deadOf(0)}); err == nil {
		t.Error("announced over a closed connection")
	}
}

func TestNextRound(t *testing.T) {
	payload := func(n int) func(int) Announcement {
		return func(i int) Announcement {
			a := deadOf(i)
			a.Payload = make([]byte, n)
			return a
		}
	}
	tests := []struct {
		batch []Announcement
		want  int
	}{
		{announcements(3, payload(10)), 3},
		{announcements(roundMax+5, payload(10)), roundMax},
		{announcements(5, payload(roundBytesMax/2)), 2},
		{announcements(2, payload(roundBytesMax+1)), 1},
	}
	for i, tc := range tests {
		if got := len(nextRound(tc.batch)); got != tc.want {
			t.Errorf("%d: a round has %d; want %d", i, got, tc.want)
		}
	}
}

// TestAnnounceDenied names what is not permitted, and hands over what stands before it.
func TestAnnounceDenied(t *testing.T) {
	s := startNATS(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "a", Password: "x", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"carillon.dead.closed", "carillon.events.closed.>"}}}},
		}
	})
	a := startAnnouncer(t, withEvents, s.ClientURL(), nats.UserInfo("a", "x"))
	for _, of := range []func(int) Announcement{deadOf, eventOf} {
		batch := announcements(5, of)
		batch[3].Tenant = "closed"
		begin := time.Now()
		n, err := a.Announce(t.Context(), batch)
		if n != 3 || err == nil || !strings.Contains(err.Error(), "does not permit publishing") {
			t.Errorf("%d are announced: %v", n, err)
		}
		if time.Since(begin) > a.nats.stuck/2 {
			t.Errorf("it took %s to find out", time.Since(begin))
		}
	}
	announceAll(t, a, []Announcement{deadOf(0), eventOf(0)})
}

// TestAnnounceHeedsItsContext has a server that stores nothing and says nothing.
func TestAnnounceHeedsItsContext(t *testing.T) {
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	a := startAnnouncer(t, withEvents, v.url())
	announceAll(t, a, []Announcement{eventOf(0)})
	v.set(true, false)
	for _, one := range []Announcement{deadOf(1), eventOf(1)} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		if n, err := a.Announce(ctx, []Announcement{one}); n != 0 || err == nil {
			t.Errorf("%d are announced: %v", n, err)
		}
		if _, err := a.Announce(ctx, []Announcement{one}); err == nil {
			t.Error("announced with a context that is over")
		}
		cancel()
	}
	v.set(false, false)
	announceAll(t, a, []Announcement{deadOf(1), eventOf(1)})
	if n := len(stored(t, s.ClientURL(), "CARILLON_EVENTS")); n != 2 {
		t.Errorf("the stream has %d messages; want 2", n)
	}
}
