package replication

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/transfer"
)

// The bounds of the offers of a node.
const (
	offerVersion = 1
	offersMost   = 4           // offers at a time; each keeps the files of a checkpoint on disk and holds back the trimming of the stream
	offerIdle    = time.Minute // how long an offer without requests lives
	offerTime    = time.Minute // bound of the time to write a checkpoint
	filesMost    = 1 << 16     // files of a checkpoint, checked by both sides
	pieceBytes   = 256 << 10   // bytes of a piece: well below the largest message, so that it does not delay the others on the connection for long
)

// The headers of a piece: its checksum, see [transfer.Sum], or why there is none.
const (
	pieceCRC   = "Carillon-Crc32c"
	pieceError = "Carillon-Error"
)

// offers are the checkpoints that a node sends at present, each with its position. A checkpoint counts for the trimming
// of the stream as soon as it is offered, so that the stream still has what comes after it when the transfer ends.
type (
	offers  = transfer.Sessions[job.Position]
	session = transfer.Session[job.Position]
)

func newOffers() *offers {
	return transfer.NewSessions[job.Position](transfer.Options{
		Places: offersMost, FilesMost: filesMost, MakeTime: offerTime, Idle: offerIdle,
	})
}

// openRequest asks for a checkpoint. With Session it asks whether that one is still offered.
type openRequest struct {
	Version int    `json:"version"`
	Node    string `json:"node"`
	Session string `json:"session,omitempty"`
	Own     *place `json:"own,omitempty"` // position that the asking node has applied
}

// offer describes a checkpoint that a node offers, or says in Error why it offers none.
type offer struct {
	Version int             `json:"version"`
	Session string          `json:"session,omitempty"`
	Error   string          `json:"error,omitempty"`
	Own     string          `json:"own,omitempty"` // how the leader judges the position of the request, see [Node.judge]
	LSN     uint64          `json:"lsn"`
	Epoch   uint64          `json:"epoch"`
	Hash    [16]byte        `json:"hash"`
	Files   []transfer.File `json:"files"`
	// Ancestors are those of the position; none where the request names a session, and from an older release.
	Ancestors ancestors `json:"ancestors,omitempty"`
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

// The reasons for which a node that asked gets nothing.
var (
	errManyOffers = errors.New("as many checkpoints as may be sent at a time are on their way; ask again later")
	errStopping   = errors.New("the node is stopping")
	errOfferGone  = errors.New("that checkpoint is not offered any more")
	errNoPiece    = errors.New("there is no such piece on offer")
)

// answerOpen offers a checkpoint. A request with the name of a session that is offered gets the same checkpoint again.
// For any other a new one is written, in the background, because that takes long.
func (n *Node) answerOpen(m *inbox.Request) {
	var request openRequest
	err := json.Unmarshal(m.Data, &request)
	if err == nil && request.Version != offerVersion {
		err = fmt.Errorf("version %d of joining is unknown here; this node knows %d", request.Version, offerVersion)
	}
	switch {
	case err != nil:
		n.respondOffer(m, &request, nil, err)
	case request.Session != "":
		s, err := n.offered(request.Session)
		n.respondOffer(m, &request, s, err)
	default:
		n.offers.Make(n.local.Export, func(s *session, err error) {
			if err == nil {
				n.opts.Logger.Info("sending a checkpoint", slog.String("to", request.Node), slog.Uint64("lsn", s.Info.LSN), slog.Int("files", len(s.Files)))
			}
			n.respondOffer(m, &request, s, err)
		})
	}
}

// offered returns a checkpoint that this node offers, and prolongs its life.
func (n *Node) offered(name string) (*session, error) {
	s := n.offers.Find(name)
	if s == nil {
		return nil, errOfferGone
	}
	return s, nil
}

// respondOffer sends the offer of a session, or the reason that there is none.
func (n *Node) respondOffer(m *inbox.Request, request *openRequest, s *session, err error) {
	o := offer{Version: offerVersion}
	if err != nil {
		err = refusal(err)
		o.Error = err.Error()
		n.opts.Logger.Warn("no checkpoint was offered", slog.String("to", request.Node), slog.Any("error", err))
	} else {
		o.Session, o.Files, o.Own = s.Name, s.Files, n.judge(request.Own)
		o.LSN, o.Epoch, o.Hash = s.Info.LSN, s.Info.Epoch, s.Info.Hash
		if request.Session == "" { // otherwise the node has them already
			o.Ancestors = ancestorsOf(n.local.Ancestors(o.LSN, ancestorsMost))
		}
	}
	respond(m, "cluster."+askOpen, o)
}

// refusal words an error for the operator of the node that asked.
func refusal(err error) error {
	many, isMany := errors.AsType[*transfer.ManyFilesError](err)
	switch {
	case errors.Is(err, transfer.ErrFull):
		return errManyOffers
	case errors.Is(err, transfer.ErrClosed):
		return errStopping
	case errors.Is(err, transfer.ErrNoPiece):
		return errNoPiece
	case isMany:
		return fmt.Errorf("the checkpoint has %w", many)
	}
	return err
}

// answerPiece sends one piece of a file. It knows nothing of what was sent before: the receiver keeps the state
// of a transfer, so it can continue after its own restart.
func (n *Node) answerPiece(m *inbox.Request) {
	header := nats.Header{}
	piece, err := n.readPiece(m.Data)
	if err != nil {
		header.Set(pieceError, err.Error())
	}
	header.Set(pieceCRC, transfer.Sum(piece))
	_ = m.Answer("cluster."+askPiece, header, piece) // the node that asked asks again
}

// readPiece reads what a request asks for.
func (n *Node) readPiece(request []byte) ([]byte, error) {
	var r pieceRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	s := n.offers.Find(r.Session)
	if s == nil {
		return nil, errNoPiece
	}
	piece, err := s.Read(r.File, r.Offset, pieceBytes)
	if err != nil {
		return nil, refusal(err)
	}
	return piece, nil
}
