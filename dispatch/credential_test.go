package dispatch

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// credentialed is a dead run whose job has credentials, and whose error, written by an older release, repeats them.
func credentialed() Announcement {
	a := deadOf(0)
	a.Target.URL = "https://example.com/hook?token=planted-url"
	a.Headers = []job.Pair{{Key: "Authorization", Value: "Bearer planted-auth"}, {Key: "X-Team", Value: "billing"}}
	a.Error = `HTTP 401: no "planted-auth"; see https://ann:planted-user@x.y/?sig=planted-sig and planted-url`
	return a
}

// TestNoCredentialIsAnnounced: dead letters and events have masks in the place of credentials.
func TestNoCredentialIsAnnounced(t *testing.T) {
	s := startNATS(t, nil)
	got := make(chan *nats.Msg, 2)
	subscribe(t, dial(t, s.ClientURL()), "carillon.dead.acme", func(m *nats.Msg) { got <- m })
	a := startAnnouncer(t, AnnouncerOptions{Events: EventOptions{Enabled: true}}, s.ClientURL())
	if err := a.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := credentialed()
	n.Event = true
	announceAll(t, a, []Announcement{n})
	m := testkit.Receive(t, got)
	const text = `HTTP 401: no "********"; see https://ann:********@x.y/?sig=******** and ********`
	if m.Header.Get("Authorization") != job.Mask || m.Header.Get("X-Team") != "billing" || m.Header.Get("Carillon-Error") != text {
		t.Errorf("the dead letter has %v", m.Header)
	}
	if n.Headers[0].Value != "Bearer planted-auth" {
		t.Error("the announcement was changed")
	}
	all := stored(t, s.ClientURL(), "CARILLON_EVENTS")
	if len(all) != 1 || strings.Contains(string(all[0].Data), "planted") || !strings.Contains(string(all[0].Data), "********") {
		t.Errorf("the stream has %v", all)
	}
}

// TestNoCredentialIsInAnError: a target that repeats what it got, wherever in its answer and however long it is,
// leaves no part of it in the outcome.
func TestNoCredentialIsInAnError(t *testing.T) {
	var before, after string
	var status int
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		echo := r.Header.Get("Authorization") + " " + r.URL.Query().Get("token")
		w.Header().Set("Location", "https://elsewhere.example/?token=planted-location")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, before+echo+after)
	})
	d := start(t, Options{AllowPrivateTargets: true}, "")
	for name, c := range map[string]struct {
		status        int
		before, after string
		want          string
	}{
		"short":           {401, "no ", "!", "HTTP 401: no ******** ********!"},
		"across the end":  {500, strings.Repeat(".", answerBytesMax-14), "", strings.Repeat(".", answerBytesMax-14)},
		"many":            {500, strings.Repeat("planted-auth-0123456789", 30), "", "HTTP 500: ********"},
		"a redirect":      {302, "", "", "?token=********"},
		"nothing of ours": {503, strings.Repeat("x", 2*answerBytesMax), "", strings.Repeat("x", answerBytesMax)},
	} {
		status, before, after = c.status, c.before, c.after
		del := deliveryTo(httpTarget(url+"/?token=planted-url-0123456789"), 0)
		del.Headers = []job.Pair{{Key: "Authorization", Value: "Bearer planted-auth-0123456789"}}
		o := testkit.Receive(t, launch(d, del))
		if strings.Contains(o.Error, "plan") || !strings.Contains(o.Error, c.want) {
			t.Errorf("%s: %q; want %q", name, o.Error, c.want)
		}
	}
}

// TestNoCredentialOfAnAnswerThatStops: an answer that stops in the midst of a credential leaves no part of it.
func TestNoCredentialOfAnAnswerThatStops(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, "no planted-auth-01234")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
		}
	})
	d := start(t, Options{AllowPrivateTargets: true}, "")
	for _, path := range []string{"/silent", "/closed"} {
		del := deliveryTo(httpTarget(url+path), 0)
		del.Headers = []job.Pair{{Key: "Authorization", Value: "Bearer planted-auth-0123456789"}}
		if o := testkit.Receive(t, launch(d, del)); o.Error != "HTTP 401: no "+job.Mask {
			t.Errorf("%s: %q", path, o.Error)
		}
	}
}

// TestNoCredentialOfAHandlersError: the errors of functions are masked too, before they are cut.
func TestNoCredentialOfAHandlersError(t *testing.T) {
	d := &job.Delivery{Headers: []job.Pair{{Key: "X-Api-Key", Value: "planted-key-0123456789"}}}
	for _, before := range []int{0, job.ErrorBytesMax - 10, job.ErrorBytesMax - 4} {
		err := &Failure{Err: io.ErrUnexpectedEOF}
		err.Err = textError(strings.Repeat("x", before) + "planted-key-0123456789 https://u:planted-2@x.y/")
		if o := outcomeOf(d, err); strings.Contains(o.Error, "plan") || len(o.Error) > job.ErrorBytesMax {
			t.Errorf("after %d bytes: %q", before, o.Error)
		}
	}
}

// textError is an error of a text.
type textError string

func (e textError) Error() string { return string(e) }

// TestOriginsHaveNoUser: what names a target in texts has no user and no password.
func TestOriginsHaveNoUser(t *testing.T) {
	for url, want := range map[string]string{
		"https://ann:planted@Example.com/x@y?token=z": "https://example.com", "http://t0ken@a:1": "http://a:1", "odd@text": "odd@text",
	} {
		if got := httpTarget(url).Site(); got != want {
			t.Errorf("%s: %s; want %s", url, got, want)
		}
	}
}
