package transfer

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var testOptions = Options{Prefix: "copy-", Places: 2, FilesMost: 10, MakeTime: time.Minute, Idle: time.Minute}

// sessionsIn returns sessions whose copies are made below a directory, and the function that makes a copy there.
func sessionsIn(t *testing.T, o Options, content map[string][]byte) (s *Sessions[int], export Export[int], root string) {
	t.Helper()
	root = t.TempDir()
	s = NewSessions[int](o)
	t.Cleanup(s.Close)
	return s, func(_ context.Context, name string) (string, int, error) {
		dir := filepath.Join(root, name)
		return dir, 7, write(dir, content)
	}, root
}

// write writes files below a directory.
func write(dir string, content map[string][]byte) error {
	for name, b := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// made is what Make answered.
type made struct {
	session *Session[int]
	err     error
}

// makeOne makes a copy and waits for the answer.
func makeOne(s *Sessions[int], export Export[int]) (*Session[int], error) {
	answers := make(chan made, 1)
	s.Make(export, func(n *Session[int], err error) { answers <- made{n, err} })
	m := <-answers
	return m.session, m.err
}

func mustMake(t *testing.T, s *Sessions[int], export Export[int]) *Session[int] {
	t.Helper()
	n, err := makeOne(s, export)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// left returns the names of the copies that are on disk.
func left(t *testing.T, root string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

var small = map[string][]byte{"a": []byte("abc")}
