package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Receive receives files into a directory, which must exist, and makes them and their names durable. It continues what
// an earlier call has begun for the same copy, also one of an earlier process. pieceBytes is the size of the pieces that
// the sender sends: a crash may have torn that much of a file, so it is requested again.
//
// Files whose names lead out of the directory are refused before anything is written, see [Check].
func (s *Source) Receive(ctx context.Context, dir string, files []File, pieceBytes int64) error {
	if err := Check(files); err != nil {
		return err
	}
	for i, f := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.receive(ctx, i, f.Size, filepath.Join(dir, filepath.FromSlash(f.Name)), pieceBytes); err != nil {
			return fmt.Errorf("receive %s from %s: %w", f.Name, s.From, err)
		}
	}
	return syncDirs(dir)
}

// receive receives one file, from where an earlier attempt stopped, and makes it durable. Its length alone shows how
// much has arrived, because pieces are written in order.
func (s *Source) receive(ctx context.Context, file int, size int64, path string, pieceBytes int64) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	arrived := max(0, min(info.Size(), size)/pieceBytes*pieceBytes-pieceBytes)
	w := io.NewOffsetWriter(f, arrived)
	for piece, err := range s.Pieces(ctx, file, arrived, size) {
		if err != nil {
			return err
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}

// syncDirs makes the names of the files below a directory durable. The sync of a file does not include its name.
func syncDirs(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
