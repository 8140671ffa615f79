package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// backupSession is a copy of the store that is being sent.
type backupSession struct {
	client.BackupOffer
	dir   string
	subs  []*nats.Subscription
	timer *time.Timer // ends the session after backupIdle without a request
}

// end releases what a session has. A nil session has nothing.
func (s *backupSession) end() {
	if s == nil {
		return
	}
	for _, sub := range s.subs {
		_ = sub.Unsubscribe()
	}
	_ = os.RemoveAll(s.dir) // the next start removes what remains
}

// read returns a piece of a file, of a bounded number of bytes.
func (s *backupSession) read(request []byte, most int64) ([]byte, error) {
	var r client.BackupPiece
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	if r.File < 0 || r.File >= len(s.Files) || r.Offset < 0 || r.Offset >= s.Files[r.File].Size {
		return nil, errors.New("there is no such piece in this backup")
	}
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(s.Files[r.File].Name)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	piece := make([]byte, min(most, s.Files[r.File].Size-r.Offset))
	_, err = f.ReadAt(piece, r.Offset)
	return piece, err
}

// exportStore copies the store into a new directory below the outgoing one.
func (s *Server) exportStore(ctx context.Context, name string) (dir string, at job.Position, err error) {
	if s.member != nil {
		return s.member.Export(ctx, name) // the member locks the store, which a join may replace
	}
	outgoing := filepath.Join(s.data.Dir(), outgoingName)
	if err := os.MkdirAll(outgoing, 0o750); err != nil {
		return "", at, err
	}
	dir = filepath.Join(outgoing, name)
	at, err = s.data.Parts().Export(ctx, dir)
	return dir, at, err
}

func (m *member) outgoing() string { return filepath.Join(m.data.Dir(), outgoingName) }

// listCopy returns the files below a directory, sorted by name.
func listCopy(dir string) (files []client.BackupFile, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, client.BackupFile{Name: filepath.ToSlash(name), Size: info.Size()})
		return err
	})
	if len(files) > backupFilesMost {
		return nil, fmt.Errorf("the store has %d files, and at most %d can be sent; stop the server and copy its directory", len(files), backupFilesMost)
	}
	return files, err
}
