package client

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
)

// BackupVersion is the version of the exchange in which a backup is sent.
const BackupVersion = 1

// BackupRequest asks the leader of a shard for a copy of its store.
type BackupRequest struct {
	Version int `json:"version"`
}

// BackupOffer is a copy that a server holds ready, until nobody has asked for a piece for a minute. It is
// of one moment, however long the sending takes.
type BackupOffer struct {
	Version   int          `json:"version"`
	Session   string       `json:"session,omitempty"`
	Error     string       `json:"error,omitempty"` // why there is none
	LSN       uint64       `json:"lsn"`
	Epoch     uint64       `json:"epoch"`
	Hash      string       `json:"hash"`                 // 32 hex digits
	ClusterID string       `json:"cluster_id,omitempty"` // 32 hex digits; "": a node alone
	Node      string       `json:"node,omitempty"`
	Shard     uint32       `json:"shard"`
	CreatedAt Time         `json:"created_at"`
	Product   string       `json:"product"` // version of the server
	Files     []BackupFile `json:"files"`
}

// BackupFile is one file of a copy.
type BackupFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// BackupPiece asks for a piece of a file.
type BackupPiece struct {
	File   int   `json:"file"` // index into the files of the offer
	Offset int64 `json:"offset"`
}

// The headers of a piece: the CRC-32C of its bytes in decimal, or why there is none.
const (
	BackupSumHeader   = "Carillon-Crc32c"
	BackupErrorHeader = "Carillon-Error"
)

// BackupSubject returns where the leader of a shard is asked for what: "open", or, of a session,
// "piece.SESSION" and "close.SESSION".
func BackupSubject(prefix string, shard uint32, what string) string {
	return prefix + ".backup." + strconv.FormatUint(uint64(shard), 10) + "." + what
}

// BackupSum returns the checksum that goes with a piece.
func BackupSum(piece []byte) string {
	return strconv.FormatUint(uint64(crc32.Checksum(piece, castagnoli)), 10)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Backup is a copy of a server's store that is being fetched. Safe for concurrent use.
type Backup struct {
	BackupOffer
	client *Client
}

// OpenBackup lets the leader of a shard make a copy of its store, to be fetched with [Backup.Piece]. It
// waits for a leader as long as other requests do, and takes as long as the server needs to flush its
// store, up to the timeout of bulk requests. Close frees what the copy takes of its disk.
func (c *Client) OpenBackup(ctx context.Context, shard uint32) (*Backup, error) {
	body, err := encode(BackupRequest{Version: BackupVersion})
	if err != nil {
		return nil, err
	}
	msg, err := c.askForBackup(ctx, BackupSubject(c.opts.Prefix, shard, "open"), body)
	if err != nil {
		return nil, err
	}
	if err := checkReply(ReplyBackupOpen, BackupSubject(c.opts.Prefix, shard, "open"), msg); err != nil {
		return nil, err
	}
	b := &Backup{client: c}
	if err := json.Unmarshal(msg.Data, &b.BackupOffer); err != nil {
		return nil, fmt.Errorf("client: decode the offer of a backup: %w", err)
	}
	if b.Error != "" {
		return nil, errors.New(b.Error)
	}
	return b, b.check()
}

// askForBackup asks until there is a leader, unless the options forbid to ask again.
func (c *Client) askForBackup(ctx context.Context, subject string, body []byte) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.BulkTimeout)
	defer cancel()
	for end := time.Now().Add(c.opts.Timeout); ; {
		msg, err := c.nc.RequestWithContext(ctx, subject, body)
		if !errors.Is(err, nats.ErrNoResponders) {
			if err != nil {
				err = c.unanswered(subject, len(body), err)
			}
			return msg, err
		}
		if c.opts.NoRetry || time.Now().After(end) || !sleep(ctx, retryPauseMax) {
			return nil, &Error{Code: CodeUnavailable, Message: "nobody answers on " + subject + ": no leader is there just now, prefix or shard are others, or the server is too old to send backups", Cause: err}
		}
	}
}

func (b *Backup) check() error {
	hash, err := hex.DecodeString(b.Hash)
	id, idErr := hex.DecodeString(b.ClusterID)
	if b.Version != BackupVersion || b.Session == "" || err != nil || len(hash) != 16 || idErr != nil || len(id) != 0 && len(id) != 16 {
		return fmt.Errorf("client: the offer of a backup has version %d, session %q, hash %q and cluster %q; want version %d", b.Version, b.Session, clip(b.Hash), clip(b.ClusterID), BackupVersion)
	}
	return nil
}

// Piece returns the bytes of a file of the offer from an offset on: as many as the server puts into a
// message, at least one. The offset must be below the size of the file. A piece may be asked for again.
func (b *Backup) Piece(ctx context.Context, file int, offset int64) ([]byte, error) {
	body, err := encode(BackupPiece{File: file, Offset: offset})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.client.opts.Timeout) // one exchange of a longer undertaking
	defer cancel()
	subject := BackupSubject(b.client.opts.Prefix, b.Shard, "piece."+b.Session)
	msg, err := b.client.nc.RequestWithContext(ctx, subject, body)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, &Error{Code: CodeUnavailable, Message: "the server does not hold this copy any more: it has been stopped, or was not asked for a minute", Cause: err}
	}
	if err != nil {
		return nil, b.client.unanswered(subject, len(body), err)
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
		return nil, errors.New("client: a piece of the backup was damaged on its way")
	}
	return msg.Data, nil
}

// Close lets the server forget the copy. It does not wait, and the server does so by itself after a minute.
func (b *Backup) Close() {
	_ = b.client.nc.Publish(BackupSubject(b.client.opts.Prefix, b.Shard, "close."+b.Session), nil)
	_ = b.client.nc.Flush()
}
