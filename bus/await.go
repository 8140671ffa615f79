package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How the start of a node waits for JetStream. The wait has no end: the nodes of a cluster are started one by
// one, and a node that comes back alone must not give up.
const (
	// A smaller value only loads a JetStream that is busy with its election.
	awaitEvery    = 100 * time.Millisecond
	awaitSayEvery = 10 * time.Second // how often the log says that the node waits, without news
	// The bound of one question. While there is no leader, a question stays without an answer, so this is also the
	// pace of the wait.
	askTimeMax = time.Second
)

// awaitJetStream returns when JetStream serves this account, when it never will, or when ctx ends. It logs at each
// change of what is missing, and otherwise every awaitSayEvery, so that the log of a long wait stays short.
func (b *Bus) awaitJetStream(ctx context.Context) error {
	js, err := jetstream.New(b.api)
	if err != nil {
		return fmt.Errorf("speak to JetStream: %w", err)
	}
	var said string
	var saidAt time.Time
	for {
		err := b.askJetStream(ctx, js)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", b.whatIsMissing(), ctx.Err())
		case b.hopeless(err):
			return b.explain(err)
		}
		if now := b.whatIsMissing(); now != said || time.Since(saidAt) >= awaitSayEvery {
			said, saidAt = now, time.Now()
			b.opts.Logger.Info(now, slog.String("node", b.opts.Node))
		}
		select {
		case <-ctx.Done(): // the next attempt returns the error
		case <-time.After(awaitEvery):
		}
	}
}

// askJetStream asks JetStream once. The leader of its servers answers, so an answer means that there is a leader. The
// last error of the connection is read besides the reply: only there does the client show that a request was
// forbidden.
func (b *Bus) askJetStream(ctx context.Context, js jetstream.JetStream) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeMax)
	defer cancel()
	_, err := js.AccountInfo(ctx)
	if last := b.api.LastError(); err != nil && errors.Is(last, nats.ErrPermissionViolation) {
		return last // NATS does not answer a forbidden request at all
	}
	return err
}

// hopeless reports whether waiting cannot help, because the servers are configured in a way that excludes JetStream.
// An embedded server may still be starting. Outside servers that answer at all have their final configuration, so
// their refusal is final.
func (b *Bus) hopeless(err error) bool {
	if b.embedded != nil {
		return !b.embedded.JetStreamEnabled()
	}
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrPermissionViolation)
}

// explain adds to such an error what the operator has to change.
func (b *Bus) explain(err error) error {
	switch {
	case b.embedded != nil:
		return fmt.Errorf("the embedded NATS server has no JetStream; its log lines say why: %w", err)
	case errors.Is(err, nats.ErrPermissionViolation):
		return fmt.Errorf("a cluster keeps its log in JetStream, and this user of NATS may not use it; allow it to publish to $JS.API.>: %w", err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("a cluster keeps its log in JetStream, which this account of NATS may not use; enable it for the account: %w", err)
	}
	return fmt.Errorf("a cluster keeps its log in JetStream, which NATS at %s does not have; enable it there (jetstream { store_dir: … }): %w", b.url, err)
}

// whatIsMissing describes what the start waits for. Servers that have never had a leader elect one only with
// the votes of all of them, so that two with emptied disks never outvote the third.
func (b *Bus) whatIsMissing() string {
	if b.embedded == nil {
		return "waiting for JetStream: its servers have no leader"
	}
	here, size := b.members()
	if here < size {
		return fmt.Sprintf("waiting for peers: %d of %d are here; the first start of a cluster needs all, a later one %d", here, size, size/2+1)
	}
	return fmt.Sprintf("waiting for the leader of the peers: all %d are here", size)
}

// members returns how many servers the embedded one is connected with, itself included, and how many servers it
// knows. Both are 1 without a cluster, and 0 without an embedded server.
func (b *Bus) members() (here, size int) {
	if b.embedded == nil {
		return 0, 0
	}
	names := map[string]bool{b.embedded.Name(): true}
	if routes, err := b.embedded.Routez(nil); err == nil {
		for _, r := range routes.Routes {
			names[r.RemoteName] = true
		}
	}
	here = len(names)
	if info, err := b.embedded.Jsz(&server.JSzOptions{}); err == nil && info.Meta != nil {
		return here, max(here, info.Meta.Size)
	}
	return here, here
}
