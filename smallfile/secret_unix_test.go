//go:build unix

package access

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesOfOthers: a file that another user could have put there is refused.
func TestFilesOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		dir      os.FileMode
		uid, gid int // -1: unchanged
		want     string
	}{
		"own":                       {0o755, -1, -1, ""},
		"in a sticky directory":     {0o777 | os.ModeSticky, -1, -1, ""},
		"in an open directory":      {0o777, -1, -1, "its directory is open"},
		"of another user":           {0o755, 12345, 12345, "belongs to another user (12345)"},
		"given to a group, as root": {0o755, 12345, os.Getegid(), ""},
	} {
		dir := filepath.Join(t.TempDir(), "dir")
		path := filepath.Join(dir, "auth.yaml")
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte("principals: []"), 0o640)
		}
		if err == nil {
			err = os.Chmod(dir, c.dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.uid >= 0 {
			if os.Geteuid() != 0 {
				continue // only root can give a file away
			}
			if err := os.Chown(path, c.uid, c.gid); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range []string{path, linkTo(t, path)} {
			_, err = Open(at, slog.New(slog.DiscardHandler), nil)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v; want %q", name, err, c.want)
			}
		}
	}
}

// linkTo returns a link to a file, in a directory of its own.
func linkTo(t *testing.T, path string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	return link
}
