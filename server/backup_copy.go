package server

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/transfer"
)

// How often a piece is requested, and the time in between: within it a broken connection comes back.
const (
	backupPieceTries = 10
	backupPiecePause = 200 * time.Millisecond
)

// WriteBackup fetches a copy of a server's store and writes it to w as the file that [Restore] reads. It keeps
// one piece in memory at a time. It calls told, which may be nil, with the number of bytes of files written so
// far and their total. The caller closes the copy. After an error, what was written is not a backup.
func WriteBackup(ctx context.Context, from *client.Backup, w io.Writer, told func(done, all int64)) (backup.Header, error) {
	h, err := backupHeader(&from.BackupOffer)
	if err != nil {
		return h, err
	}
	out, err := backup.NewWriter(w, h)
	if err != nil {
		return h, err
	}
	source := transfer.Source{Ask: from.Piece, Tries: backupPieceTries, Pause: backupPiecePause}
	done := int64(0)
	for i, f := range from.Files {
		if err := out.File(backup.File(f)); err != nil {
			return h, err
		}
		for piece, err := range source.Pieces(ctx, i, 0, f.Size) {
			if err != nil {
				return h, fmt.Errorf("fetch %s: %w", f.Name, err)
			}
			if _, err := out.Write(piece); err != nil {
				return h, err
			}
			done += int64(len(piece))
			if told != nil {
				told(done, h.Bytes)
			}
		}
	}
	return h, out.Close()
}

// backupHeader returns the header of the backup that an offer describes.
func backupHeader(o *client.BackupOffer) (h backup.Header, err error) {
	h = backup.Header{Shard: o.Shard, Shards: o.Shards, Files: len(o.Files), CreatedAt: o.CreatedAt.Time, Product: o.Product}
	h.Position.LSN, h.Position.Epoch = o.LSN, o.Epoch
	hash, err := hex.DecodeString(o.Hash)
	id, idErr := hex.DecodeString(o.ClusterID)
	if err = errors.Join(err, idErr); err != nil {
		return h, fmt.Errorf("the offer of the backup: %w", err)
	}
	copy(h.Position.Hash[:], hash)
	copy(h.ClusterID[:], id)
	for _, f := range o.Files {
		h.Bytes += f.Size
	}
	return h, nil
}
