package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
)

// Stage is a server with the targets of its jobs.
type Stage struct {
	Server *server.Server
	URL    string         // of the dashboard
	NATS   *nats.Conn     // to the server's own
	Client *client.Client // for jobs that a test does not register through the pages
	Hall   *Hall
}

// Hall is the HTTP server that is the target of jobs. Its methods are safe for concurrent use.
type Hall struct {
	URL string // prefix of the targets' URLs; paths below "/broken/" fail until Mend, those below "/closed/" for ever

	server *httptest.Server
	mended atomic.Bool
}

// brokenText is the hall's answer below "/broken/": text that a careless program might print, with a
// script that must not run on a page.
const brokenText = `database is locked <script>window.pwned = "error"</script>`

// Open starts a stage with its data in dir. by is the name of its client in the audit log; version is
// the version that the server shows.
func Open(ctx context.Context, dir, by, version string) (s *Stage, err error) {
	s = &Stage{Hall: newHall()}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open the stage: %w", err), s.Close(context.WithoutCancel(ctx)))
		}
	}()
	s.Server, err = server.Start(ctx, server.Options{
		Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", AllowPrivateTargets: true,
		Logger: slog.New(slog.DiscardHandler), Version: version,
	})
	if err != nil {
		return s, err
	}
	s.URL = s.Server.Ready().HTTP
	if s.NATS, err = nats.Connect(s.Server.Ready().NATS); err != nil {
		return s, err
	}
	s.Client, err = client.New(s.NATS, client.Options{By: by})
	return s, err
}

// Close ends the server and then its targets, so that runs in progress can finish.
func (s *Stage) Close(ctx context.Context) (err error) {
	if s.Server != nil {
		err = s.Server.Close(ctx)
	}
	if s.NATS != nil {
		s.NATS.Close()
	}
	s.Hall.server.Close()
	return err
}

func newHall() *Hall {
	h := &Hall{}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "done")
	})
	mux.HandleFunc("/broken/", func(w http.ResponseWriter, _ *http.Request) {
		if !h.mended.Load() {
			http.Error(w, brokenText, http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, "done at last")
	})
	mux.HandleFunc("/closed/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "closed for maintenance until 06:00", http.StatusServiceUnavailable)
	})
	h.server = httptest.NewServer(mux)
	h.URL = h.server.URL
	return h
}

// Mend makes the paths below "/broken/" succeed from now on.
func (h *Hall) Mend() { h.mended.Store(true) }
