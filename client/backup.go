package client

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/nats-io/nats.go"
)

// BackupVersion is the version of the protocol by which a backup is fetched. Client and server must
// agree on it.
const BackupVersion = 1

// BackupRequest asks the leader of a shard for a copy of its store.
type BackupRequest struct {
	Version int `json:"version"`
}

// BackupOffer describes a copy that a server keeps for a client to fetch. The copy has the state of one
// commit, however long the transfer takes. The server removes it when no piece has been requested for a
// minute.
type BackupOffer struct {
	Version int `json:"version"`
	// Session names the copy in later requests.
	Session   string `json:"session,omitempty"`
	Error     string `json:"error,omitempty"` // why the server makes no copy; "" if it has made one
	LSN       uint64 `json:"lsn"`             // the last commit in the copy
	Epoch     uint64 `json:"epoch"`
	Hash      string `json:"hash"`                 // of the commit LSN; 32 hex digits
	ClusterID string `json:"cluster_id,omitempty"` // 32 hex digits; "" for a node without a cluster
	Node      string `json:"node,omitempty"`
	Shard     uint32 `json:"shard"`
	Shards    int    `json:"shards,omitzero"` // of the cluster; 0 and 1 are one
	CreatedAt Time   `json:"created_at"`
	Product   string `json:"product"` // version of the server's program
	// Files are fetched in any order, and each in pieces.
	Files []BackupFile `json:"files"`
}

// BackupFile is one file of a copy. Its size is in bytes.
type BackupFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// BackupPiece asks for a piece of a file. Offset counts bytes from the beginning of the file.
type BackupPiece struct {
	File   int   `json:"file"` // index into the files of the offer
	Offset int64 `json:"offset"`
}

// The headers of a reply to [BackupPiece]: the CRC-32C of the piece in decimal, or the error if there is
// no piece.
const (
	BackupSumHeader   = "Carillon-Crc32c"
	BackupErrorHeader = "Carillon-Error"
)

// BackupSubject returns the subject for a request about backups to the leader of a shard. what is
// "open", or for a session "piece.SESSION" or "close.SESSION".
func BackupSubject(prefix string, shard uint32, what string) string {
	return prefix + ".backup." + strconv.FormatUint(uint64(shard), 10) + "." + what
}

// BackupSum returns the value of [BackupSumHeader] for a piece.
func BackupSum(piece []byte) string {
	return strconv.FormatUint(uint64(crc32.Checksum(piece, castagnoli)), 10)
}

// castagnoli is the polynomial for which processors have an instruction; the frames of the log use it too.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Backup is a copy of a server's store that is being fetched. It is safe for concurrent use.
type Backup struct {
	BackupOffer
	client *Client
	stop   context.CancelFunc // ends the tries of its opening that still wait; nil: there are none
}

// check returns an error unless the offer has the version and the form that this client knows.
func (b *Backup) check() error {
	hash, err := hex.DecodeString(b.Hash)
	id, idErr := hex.DecodeString(b.ClusterID)
	if b.Version != BackupVersion || b.Session == "" || err != nil || len(hash) != 16 || idErr != nil || len(id) != 0 && len(id) != 16 {
		return fmt.Errorf("client: the offer of a backup has version %d, session %q, hash %q and cluster %q; want version %d", b.Version, b.Session, clip(b.Hash), clip(b.ClusterID), BackupVersion)
	}
	return nil
}

// Piece returns bytes of a file of the offer, beginning at offset: as many as the server puts into one
// message, at least one. file is an index into Files; offset must be below the size of the file. A piece
// may be requested again. Piece verifies the checksum.
func (b *Backup) Piece(ctx context.Context, file int, offset int64) ([]byte, error) {
	body, err := encode(BackupPiece{File: file, Offset: offset})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.client.opts.Timeout) // the timeout is for this exchange, not for the whole backup
	defer cancel()
	subject := BackupSubject(b.client.opts.Prefix, b.Shard, "piece."+b.Session)
	msg, err := b.client.nc.RequestWithContext(ctx, subject, body)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, &Error{Code: CodeUnavailable, Message: "the server no longer has this copy: it was restarted, or no piece was requested for a minute; begin the backup again", Cause: err}
	}
	if err != nil {
		return nil, b.client.unanswered(subject, len(body), false, err)
	}
	if text := msg.Header.Get(BackupErrorHeader); text != "" {
		return nil, errors.New(text)
	}
	if msg.Header.Get(BackupSumHeader) == "" { // a server of the release before the header has at least the sum
		if err := checkReply(ReplyBackupPiece, subject, msg); err != nil {
			return nil, err
		}
	}
	if len(msg.Data) == 0 || msg.Header.Get(BackupSumHeader) != BackupSum(msg.Data) {
		return nil, errors.New("client: a piece of the backup was damaged in transfer; request it again")
	}
	return msg.Data, nil
}

// Close asks the server to remove the copy. It does not wait for that; without Close the server removes
// the copy after a minute.
func (b *Backup) Close() {
	if b.stop != nil {
		b.stop()
	}
	_ = b.client.nc.Publish(BackupSubject(b.client.opts.Prefix, b.Shard, "close."+b.Session), nil)
	_ = b.client.nc.Flush()
}
