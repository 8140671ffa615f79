package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/transfer"
)

// bootstrap replaces this node's data by a checkpoint of the leader, if that brings anything. It puts aside, for the
// operator, the commits that the cluster's log does not have.
//
// Until Adopt the old log and store stay as they are, so a crash or a failed transfer before that costs only
// the transfer. Commits that only this node has are saved before Adopt replaces the log that has them.
// A failed transfer returns nil: the caller tries again, from what has arrived. Only a failure of Local, or
// data that must not be replaced, ends the node.
func (n *Node) bootstrap(ctx context.Context, cause error) error {
	n.publishStatus(RoleJoining)
	if !errors.Is(cause, errFresh) {
		n.opts.Logger.Warn("this node joins anew, from a checkpoint of the leader", slog.Any("error", cause))
	}
	began := time.Now()
	o, err := n.receive(ctx, cause)
	failure := localError{}
	if errors.Is(err, errNothingNew) {
		n.progress = 0 // the stream has joinAfter again to bring what follows
	}
	switch {
	case errors.As(err, &failure):
		return err
	case err != nil && ctx.Err() == nil:
		n.warn("the checkpoint was not received; trying again", err)
		n.wait(ctx, retryPause)
		return nil
	case err != nil:
		return nil
	}
	n.progress = 0
	if err := n.saveTail(cause); err != nil {
		return localError{err}
	}
	if err := n.local.Adopt(o.position(), o.Ancestors.before(o.LSN), oldData(cause, &o.offer)); err != nil {
		return localError{err}
	}
	n.discard.Store(false)
	n.opts.Logger.Info("received a checkpoint", slog.Uint64("lsn", o.LSN), slog.Duration("took", time.Since(began).Round(time.Millisecond)))
	return nil
}

// saveTail puts aside the commits of this node's log that no other node may have.
func (n *Node) saveTail(cause error) error {
	after := n.local.Applied()
	if errors.Is(cause, errDiverged) {
		common, ok := n.local.Find(n.writer.at.LSN - min(n.writer.at.LSN, 1))
		if ok {
			after = common
		}
	}
	if n.local.Last().LSN <= after.LSN {
		return nil
	}
	return n.local.Save(after)
}

// errNothingNew says that this node's log has the commit of a checkpoint that is offered to it.
var errNothingNew = errors.New("replication: this node's log has that checkpoint's commit already")

// bringsNothing reports whether a node whose log the stream does not continue gains nothing from a checkpoint: its own log
// has that commit. This is so when NATS has lost the end of the stream and the leader hangs, or has not yet stored it again.
// To adopt the checkpoint would drop commits that, after the loss, perhaps only this node and the leader have. Data that went another
// way than the cluster's is given up all the same.
func (n *Node) bringsNothing(cause error, at job.Position) bool {
	found, ok := n.local.Find(at.LSN)
	return errors.Is(cause, errBehind) && ok && found == at
}

// manifestName is the file in the incoming directory that describes the checkpoint being received. It is beside
// the files of the store and not among them, so that the store can be moved to its place as it is.
const manifestName = "MANIFEST.json"

// storeName is the directory beside it that becomes the store.
const storeName = "store"

// manifest describes the checkpoint being received, so that a process that starts again continues the transfer.
// It is not synced: if a crash tears it, or its session has ended, the transfer begins anew.
type manifest struct {
	From string `json:"from"`
	offer
}

// receive receives a whole checkpoint into the incoming directory, provided that the data that it replaces may
// be put aside.
func (n *Node) receive(ctx context.Context, cause error) (*manifest, error) {
	dir := n.local.Incoming()
	m, err := n.resume(ctx, dir)
	if err != nil {
		return nil, err
	}
	if n.bringsNothing(cause, m.position()) {
		return nil, fmt.Errorf("%w: %s offers commit %d", errNothingNew, m.From, m.LSN)
	}
	if err := n.local.MayReplace(oldData(cause, &m.offer)); err != nil {
		return nil, localError{err}
	}
	ctx, cancel := n.untilResigned(ctx)
	defer cancel()
	source := transfer.Source{From: m.From, Tries: pieceTries, Pause: retryPause, Ask: func(ctx context.Context, file int, offset int64) ([]byte, error) {
		return n.askPiece(ctx, m.From, pieceRequest{Session: m.Session, File: file, Offset: offset})
	}}
	return m, source.Receive(ctx, filepath.Join(dir, storeName), m.Files, pieceBytes)
}

// pieceTries is how often a piece is requested before the transfer fails. With the time of a request and the
// pause after it, that is long enough for a connection to move to another server. What has arrived is kept for
// as long as the offer lasts.
const pieceTries = 20

// untilResigned returns a context that ends with another one, and when the node resigns. Only the loop of Run calls it,
// and calls cancel afterwards.
func (n *Node) untilResigned(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(ctx)
	n.watchers.Go(func() {
		defer cancel()
		select {
		case <-n.stop:
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

// resume continues the transfer of an earlier attempt if that checkpoint is still offered, and otherwise begins
// a new one. The offering node judges this node's position again in either case, because that depends on how
// far its log reaches back at present.
func (n *Node) resume(ctx context.Context, dir string) (*manifest, error) {
	m := &manifest{}
	if b, err := os.ReadFile(filepath.Join(dir, manifestName)); err == nil && json.Unmarshal(b, m) == nil {
		if o, err := n.askOpen(ctx, m.From, m.Session); err == nil && o.position() == m.position() {
			m.Own = o.Own
			return m, nil
		}
	}
	leader, err := n.awaitLeader(ctx)
	if err != nil {
		return nil, err
	}
	o, err := n.askOpen(ctx, leader.Node, "")
	if err != nil {
		return nil, fmt.Errorf("ask %s for a checkpoint: %w", leader.Node, err)
	}
	m = &manifest{From: leader.Node, offer: o}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, storeName), 0o700); err != nil {
		return nil, err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return m, os.WriteFile(filepath.Join(dir, manifestName), b, 0o600)
}

// awaitLeader returns the leader. It waits for one beat, because a node that has just started has not heard
// any. Only the leader is asked, because only its log is known to be the cluster's.
func (n *Node) awaitLeader(ctx context.Context) (peer, error) {
	for began := n.opts.Boot(); ; {
		leader, ok := n.peers.leader(n.opts.Boot())
		switch {
		case ok:
			return leader, nil
		case n.opts.Boot()-began > beatFresh, ctx.Err() != nil, n.resigned():
			return leader, fmt.Errorf("there is no leader to receive it from; if no other node has its data any more, "+
				"`carillon cluster found --give-up %s` lets the cluster begin anew with this node's", n.id)
		}
		n.wait(ctx, checkEvery)
	}
}

// askOpen asks a node to offer a checkpoint. It waits for offerTime, because the offering node writes the
// checkpoint before it replies.
func (n *Node) askOpen(ctx context.Context, node, session string) (o offer, err error) {
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	b, err := json.Marshal(openRequest{Version: offerVersion, Node: n.opts.Node, Session: session, Own: placeOf(n.local.Applied())})
	if err != nil {
		return o, err
	}
	m, err := n.opts.Conn.RequestWithContext(ctx, n.subjects().node(node, askOpen), b)
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(m.Data, &o); err != nil {
		return o, err
	}
	if o.Error != "" {
		return o, errors.New(o.Error)
	}
	return o, checkOffer(&o)
}

// checkOffer refuses an offer whose version is unknown, or with a file that would lie outside the directory for
// it. The names come from another process, and this one creates files by them.
func checkOffer(o *offer) error {
	if len(o.Ancestors) > ancestorsMost*ancestorBytes || len(o.Ancestors)%ancestorBytes != 0 || uint64(len(o.Ancestors)/ancestorBytes) > o.LSN {
		return fmt.Errorf("the offer of commit %d has %d bytes of ancestors", o.LSN, len(o.Ancestors))
	}
	if o.Version != offerVersion || o.Session == "" || len(o.Files) == 0 || len(o.Files) > filesMost {
		return fmt.Errorf("the offer has version %d and %d files; want version %d and 1 to %d", o.Version, len(o.Files), offerVersion, filesMost)
	}
	return transfer.Check(o.Files)
}

// askPiece requests a piece once.
func (n *Node) askPiece(ctx context.Context, node string, r pieceRequest) ([]byte, error) {
	request, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m, err := n.opts.Conn.RequestMsgWithContext(ctx, &nats.Msg{Subject: n.subjects().node(node, askPiece), Data: request})
	if err != nil {
		return nil, err
	}
	if text := m.Header.Get(pieceError); text != "" {
		return nil, errors.New(text)
	}
	if len(m.Data) == 0 || m.Header.Get(pieceCRC) != transfer.Sum(m.Data) {
		return nil, errors.New("the piece is damaged")
	}
	return m.Data, nil
}
