package worker

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestOutage: a server that is gone ends no command, and learns its outcome when it is back.
func TestOutage(t *testing.T) {
	dir, allow := place(t, "")
	path := filepath.Join(dir, "gate")
	makeGate(t, path)
	write(t, allow, commandsAllowed(gate(path)+"; echo done"))
	serve := func(listen string) *server.Server {
		t.Helper()
		s, err := server.Start(t.Context(), server.Options{Dir: filepath.Join(dir, "data"), Listen: listen, HTTPListen: "127.0.0.1:0", Logger: discard})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	stop := func(s *server.Server) {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	s := serve("127.0.0.1:0")
	url := s.Ready().NATS
	nc, c := clienttest.Connect(t, url, nats.MaxReconnects(-1))
	b := startWorker(t, allow, func(o *Options) { o.Conn, o.Client = nc, c })
	b.conn, b.c = nc, c
	b.put("job", gate(path)+"; echo done", nil)
	run := b.trigger("job")
	begun(t, path)
	b.await(run.RunID, "running")
	stop(s)
	open(t, path)
	testkit.Until(t, "the command has ended well", func() bool { return strings.Contains(b.log.String(), "msg=succeeded") })
	s = serve(strings.TrimPrefix(url, "nats://"))
	defer stop(s)
	testkit.Until(t, "the run is reported", func() bool {
		var err error
		run, err = c.Run(t.Context(), run.RunID)
		return err == nil && run.Status == "succeeded"
	})
	if run.Result != "done" || run.Attempt != 1 || len(lines(path+".begun")) != 1 {
		t.Errorf("result %q, attempt %d, begun %d times", run.Result, run.Attempt, len(lines(path+".begun")))
	}
}
