package replication

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// A checkpoint is sent as its files, in pieces that the receiver requests one after the other. The files do not
// change while they are offered, so the receiver may request a piece again.

// The bounds of the offers of a node.
const (
	offerVersion = 1
	offersMost   = 4           // offers at a time; each keeps the files of a checkpoint on disk and holds back the trimming of the stream
	offerIdle    = time.Minute // how long an offer without requests lives
	offerTime    = time.Minute // bound of the time to write a checkpoint
	filesMost    = 1 << 16     // files of a checkpoint, checked by both sides
	pieceBytes   = 256 << 10   // bytes of a piece: well below the largest message, so that it does not delay the others on the connection for long
)

// pieceCRC is the header of a piece that carries the CRC-32C of its bytes, in decimal.
const pieceCRC = "Carillon-Crc32c"

// openRequest asks for a checkpoint. With Session it asks whether that one is still offered.
type openRequest struct {
	Version int    `json:"version"`
	Node    string `json:"node"`
	Session string `json:"session,omitempty"`
	Own     *place `json:"own,omitempty"` // position that the asking node has applied
}

// offer describes a checkpoint that a node offers, or says in Error why it offers none.
type offer struct {
	Version int      `json:"version"`
	Session string   `json:"session,omitempty"`
	Error   string   `json:"error,omitempty"`
	Own     string   `json:"own,omitempty"` // how the leader judges the position of the request, see [Node.judge]
	LSN     uint64   `json:"lsn"`
	Epoch   uint64   `json:"epoch"`
	Hash    [16]byte `json:"hash"`
	Files   []file   `json:"files"`
}

// file is one file of a checkpoint.
type file struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

func (o *offer) position() job.Position {
	return job.Position{LSN: o.LSN, Epoch: o.Epoch, Hash: o.Hash}
}

// pieceRequest asks for a piece of a file.
type pieceRequest struct {
	Session string `json:"session"`
	File    int    `json:"file"` // index into the files of the offer
	Offset  int64  `json:"offset"`
}

// offers are the checkpoints that a node offers at present, by session. Safe for concurrent use.
type offers struct {
	mu   sync.Mutex
	open map[string]*session
}

// session is one offered checkpoint; dir holds its files and is removed at its end. It ends by time rather than
// by a message of the receiver, which may die at any moment.
type session struct {
	offer
	dir   string
	timer *time.Timer // ends it after offerIdle without a request
}

// errManyOffers says that a node sends as many checkpoints as it may send at a time.
var errManyOffers = errors.New("as many checkpoints as may be sent at a time are on their way; ask again later")

// answerOpen writes a checkpoint and offers it. Writing takes long, so it does not hold up other requests. A
// request with the name of a session that is offered gets the same checkpoint again.
func (n *Node) answerOpen(m *inbox.Request) {
	go func() {
		var request openRequest
		o := offer{Version: offerVersion}
		err := json.Unmarshal(m.Data, &request)
		if err == nil && request.Version != offerVersion {
			err = fmt.Errorf("version %d of joining is unknown here; this node knows %d", request.Version, offerVersion)
		}
		if err == nil {
			o, err = n.offerTo(request)
			o.Own = n.judge(request.Own)
		}
		if err != nil {
			o.Error = err.Error()
			n.opts.Logger.Warn("no checkpoint was offered", slog.String("to", request.Node), slog.Any("error", err))
		}
		respond(m, "cluster."+askOpen, o)
	}()
}

// offerTo returns the offer that a request asks for, or makes one. The checkpoint counts for the trimming of
// the stream as soon as it is added, so that the stream still has what comes after it when the transfer ends.
func (n *Node) offerTo(request openRequest) (offer, error) {
	if s := n.offers.find(request.Session); s != nil {
		return s.offer, nil
	}
	if request.Session != "" {
		return offer{}, errors.New("that checkpoint is not offered any more")
	}
	if n.offers.count() >= offersMost {
		return offer{}, errManyOffers
	}
	ctx, cancel := context.WithTimeout(context.Background(), offerTime)
	defer cancel()
	name := rand.Text()
	dir, at, err := n.local.Export(ctx, name)
	if err != nil {
		return offer{}, err
	}
	s := &session{dir: dir, offer: offer{Version: offerVersion, Session: name, LSN: at.LSN, Epoch: at.Epoch, Hash: at.Hash}}
	if s.Files, err = listFiles(dir); err != nil {
		return offer{}, errors.Join(err, os.RemoveAll(dir))
	}
	n.opts.Logger.Info("sending a checkpoint", slog.String("to", request.Node), slog.Uint64("lsn", at.LSN), slog.Int("files", len(s.Files)))
	n.offers.add(s)
	return s.offer, nil
}

// listFiles returns the files below a directory.
func listFiles(dir string) (files []file, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, file{filepath.ToSlash(name), info.Size()})
		return err
	})
	if len(files) > filesMost {
		return nil, fmt.Errorf("the checkpoint has %d files, and at most %d can be sent", len(files), filesMost)
	}
	return files, err
}

// answerPiece sends one piece of a file. It knows nothing of what was sent before: the receiver keeps the state
// of a transfer, so it can continue after its own restart.
func (n *Node) answerPiece(m *inbox.Request) {
	header := nats.Header{}
	piece, err := n.readPiece(m.Data)
	if err != nil {
		header.Set("Carillon-Error", err.Error())
	}
	header.Set(pieceCRC, strconv.FormatUint(uint64(crc32.Checksum(piece, castagnoli)), 10))
	_ = m.Answer("cluster."+askPiece, header, piece) // the node that asked asks again
}

// readPiece reads what a request asks for. The request comes from another process, so the file is named by its
// index and not by a path.
func (n *Node) readPiece(request []byte) ([]byte, error) {
	var r pieceRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	s := n.offers.find(r.Session)
	if s == nil || r.File < 0 || r.File >= len(s.Files) || r.Offset < 0 || r.Offset >= s.Files[r.File].Size {
		return nil, errors.New("there is no such piece on offer")
	}
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(s.Files[r.File].Name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	piece := make([]byte, min(pieceBytes, s.Files[r.File].Size-r.Offset))
	_, err = f.ReadAt(piece, r.Offset)
	return piece, err
}

func (o *offers) add(s *session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		o.open = make(map[string]*session)
	}
	o.open[s.Session] = s
	s.timer = time.AfterFunc(offerIdle, func() { o.drop(s.Session) })
}

// find returns an offer and prolongs its life; nil if there is none of that name.
func (o *offers) find(name string) *session {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.open[name]
	if s != nil {
		s.timer.Reset(offerIdle)
	}
	return s
}

// count returns the number of offers. The bound that it serves is not exact: requests that arrive at the same
// time may exceed it, each by one.
func (o *offers) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.open)
}

// floor returns the least of an LSN and those of the offered checkpoints: a node that receives one reads the
// stream from there. Without it, the receiver would have to begin again with a newer checkpoint.
func (o *offers) floor(lsn uint64) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.open {
		lsn = min(lsn, s.LSN)
	}
	return lsn
}

// drop ends an offer and removes its files. It may be called twice. The files are removed without the mutex,
// because that can take long.
func (o *offers) drop(name string) {
	o.mu.Lock()
	s := o.open[name]
	delete(o.open, name)
	o.mu.Unlock()
	if s != nil {
		s.timer.Stop()
		_ = os.RemoveAll(s.dir) // the next start removes what remains
	}
}

// close ends all offers. What is offered after it, by a request that is still under way, the next start
// removes.
func (o *offers) close() {
	o.mu.Lock()
	var names []string
	for name := range o.open {
		names = append(names, name)
	}
	o.mu.Unlock()
	for _, name := range names {
		o.drop(name)
	}
}
