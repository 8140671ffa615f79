package datadir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
)

// outgoingName is the directory, in that of the shard, with the copies of the store that are being sent.
const outgoingName = "outgoing"

// Export writes a copy of the store into a new directory of that name, and returns its path and the copy's position.
// It hard-links what it can, so it costs little disk. The caller removes the directory; after a crash,
// [Shard.RemoveExports] does. CutTail and Adopt must be kept away meanwhile.
func (s *Shard) Export(ctx context.Context, name string) (dir string, at job.Position, err error) {
	outgoing := filepath.Join(s.dir, outgoingName)
	if err := os.MkdirAll(outgoing, 0o700); err != nil {
		return "", at, err
	}
	dir = filepath.Join(outgoing, name)
	at, err = s.Parts().Export(ctx, dir)
	return dir, at, err
}

// RemoveExports removes the copies that an earlier process was sending.
func (s *Shard) RemoveExports() error {
	if err := os.RemoveAll(filepath.Join(s.dir, outgoingName)); err != nil {
		return fmt.Errorf("remove what was being sent: %w", err)
	}
	return nil
}
