package replication

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// exporter is a Local that only writes checkpoints.
type exporter struct {
	Local
	export func(ctx context.Context, name string) (string, job.Position, error)
}

func (e exporter) Ancestors(uint64, int) []job.Position { return nil }

func (e exporter) Export(ctx context.Context, name string) (string, job.Position, error) {
	return e.export(ctx, name)
}

// slowly writes checkpoints below root that are complete only when the request for them has ended.
func slowly(root string, begun, ended *atomic.Int32) exporter {
	return exporter{export: func(ctx context.Context, name string) (string, job.Position, error) {
		begun.Add(1)
		defer ended.Add(1)
		dir := filepath.Join(root, name)
		err := os.MkdirAll(dir, 0o750)
		<-ctx.Done()
		return dir, job.Position{LSN: 1}, errors.Join(err, os.WriteFile(filepath.Join(dir, "a.sst"), nil, 0o600))
	}}
}

// TestCheckpointsBeingWrittenAreBounded: of many nodes that ask at the same moment, no more than the bound get a
// checkpoint, although none is offered yet.
func TestCheckpointsBeingWrittenAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun, ended atomic.Int32
		n := &Node{host: NewHost(nil), opts: Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}, offers: newOffers(), tells: func([]byte) {}, local: slowly(t.TempDir(), &begun, &ended)}
		for range 3 * offersMost {
			n.answerOpen(&inbox.Request{Data: []byte(`{"version":1,"node":"b"}`)})
		}
		synctest.Wait()
		if b := begun.Load(); b != offersMost {
			t.Errorf("%d checkpoints are being written at a time, want %d", b, offersMost)
		}
		testkit.Pass(offerTime) // they take too long
		synctest.Wait()
		n.answerOpen(&inbox.Request{Data: []byte(`{"version":1,"node":"b"}`)})
		synctest.Wait()
		n.unlisten()
		if b := begun.Load(); b != offersMost {
			t.Errorf("%d checkpoints were written, want %d: the first ones are on offer", b, offersMost)
		}
	})
}

// TestCheckpointIsAwaited: when a node stops listening, no checkpoint is being written any more and none is on disk.
func TestCheckpointIsAwaited(t *testing.T) {
	root := t.TempDir()
	var begun, ended atomic.Int32
	n := &Node{host: NewHost(nil), opts: Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}, offers: newOffers(), tells: func([]byte) {}, local: slowly(root, &begun, &ended)}
	for range 3 * offersMost {
		n.answerOpen(&inbox.Request{Data: []byte(`{"version":1,"node":"b"}`)})
	}
	n.unlisten()
	if b, e := begun.Load(), ended.Load(); b != e {
		t.Errorf("of %d checkpoints %d are still being written", b, b-e)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("%d checkpoints are left, %v", len(left), err)
	}
}

// TestFailedListenLeavesNoSubscription: a node that cannot subscribe to all of its subjects is subscribed to none. Its
// name has a space here, so some subjects are refused.
func TestFailedListenLeavesNoSubscription(t *testing.T) {
	conn, err := nats.Connect(bustest.Run(t, "").ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 20 { // the order of the subjects is random
		n := &Node{host: NewHost(nil), opts: Options{Prefix: "test", Node: "a b", Conn: conn}.withDefaults(), offers: newOffers()}
		if err := n.listen(t.Context(), nil); err == nil {
			t.Fatal("the node listens on a subject with a space")
		}
		if left := conn.NumSubscriptions(); left > 0 || len(n.subs) > 0 {
			t.Fatalf("%d subscriptions are left", left)
		}
	}
}
