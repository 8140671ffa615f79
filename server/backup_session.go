package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
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
