package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const testPiece = 100

// sourceOf returns a source over a session, and the number of requests so far.
func sourceOf(n *Session[int]) (*Source, *int) {
	asked := new(int)
	return &Source{From: "b", Tries: 3, Pause: time.Second, Ask: func(_ context.Context, file int, offset int64) ([]byte, error) {
		*asked++
		return n.Read(file, offset, testPiece)
	}}, asked
}

// copied returns an open session, its content by name, and a source over it.
func copied(t *testing.T) (*Session[int], map[string][]byte, *Source, *int) {
	t.Helper()
	content := map[string][]byte{"a": numbers(3*testPiece + 7), "b/c": numbers(2 * testPiece), "d": nil, "e": numbers(1)}
	s, export, _ := sessionsIn(t, testOptions, content)
	n := mustMake(t, s, export)
	source, asked := sourceOf(n)
	return n, content, source, asked
}

// numbers returns bytes of which no piece is like another.
func numbers(size int) (b []byte) {
	for i := 0; len(b) < size; i++ {
		b = fmt.Appendf(b, "%d,", i)
	}
	return b[:size]
}

func same(t *testing.T, dir string, content map[string][]byte) {
	t.Helper()
	for name, want := range content {
		if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s has %d bytes, want %d; %v", name, len(got), len(want), err)
		}
	}
}

// TestReceiveContinues: a transfer that ends at any piece, as by a crash that also tears the last piece, continues in the
// next call and requests little of what arrived before.
func TestReceiveContinues(t *testing.T) {
	n, content, _, _ := copied(t)
	const all = 4 + 2 + 0 + 1 // pieces of the files
	for fails := range all + 1 {
		dir := t.TempDir()
		source, asked := sourceOf(n)
		ask := source.Ask
		source.Ask = func(ctx context.Context, file int, offset int64) ([]byte, error) {
			if *asked == fails {
				return nil, errors.New("the connection is gone")
			}
			return ask(ctx, file, offset)
		}
		source.Tries = 1
		if err := source.Receive(t.Context(), dir, n.Files, testPiece); (err == nil) != (fails == all) {
			t.Fatalf("%d pieces arrived: %v", fails, err)
		}
		tear(t, dir, n.Files)
		again, asked := sourceOf(n)
		if err := again.Receive(t.Context(), dir, n.Files, testPiece); err != nil {
			t.Fatal(err)
		}
		same(t, dir, content)
		// At most two pieces of each file are requested again: the last whole one, and a shorter one after it.
		if most := all - fails + 2*len(n.Files); *asked > most {
			t.Errorf("%d pieces had arrived, and %d more were requested", fails, *asked)
		}
	}
}

// tear spoils the bytes that the last write of each file wrote.
func tear(t *testing.T, dir string, files []File) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		b, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && len(b) == 0 {
			continue
		}
		for i := (len(b) - 1) / testPiece * testPiece; i < len(b); i++ {
			b[i] = 0
		}
		if err := errors.Join(err, os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReceiveCutsLongerFile: what lies behind the end of a file is cut off.
func TestReceiveCutsLongerFile(t *testing.T) {
	n, content, source, _ := copied(t)
	dir := t.TempDir()
	for name, b := range content {
		if err := write(dir, map[string][]byte{name: append(bytes.Clone(b), bytes.Repeat([]byte("x"), 250)...)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := source.Receive(t.Context(), dir, n.Files, testPiece); err != nil {
		t.Fatal(err)
	}
	for _, f := range n.Files {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil || info.Size() != f.Size {
			t.Errorf("%s has %d bytes, want %d; %v", f.Name, info.Size(), f.Size, err)
		}
	}
}

// TestReceiveStaysInItsDirectory: before any file is written, all names are checked.
func TestReceiveStaysInItsDirectory(t *testing.T) {
	_, _, source, asked := copied(t)
	root := t.TempDir()
	dir := filepath.Join(root, "in")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := source.Receive(t.Context(), dir, []File{{"a", 10}, {"../out", 10}}, testPiece); err == nil || *asked > 0 {
		t.Errorf("%d pieces were requested, %v", *asked, err)
	}
	if in, out := left(t, dir), left(t, root); len(in) != 0 || len(out) != 1 {
		t.Errorf("there is %v, and beside it %v", in, out)
	}
}

// TestReceiveEnds: the error says which file did not arrive, and from where; a context that has ended sends no request.
func TestReceiveEnds(t *testing.T) {
	n, _, source, asked := copied(t)
	n.of.Drop(n.Name)
	source.Tries = 1
	err := source.Receive(t.Context(), t.TempDir(), n.Files, testPiece)
	if want := "receive a from b: " + ErrNoPiece.Error(); err == nil || err.Error() != want || *asked != 1 {
		t.Errorf("%d requests, %v; want %s", *asked, err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := source.Receive(ctx, t.TempDir(), n.Files, testPiece); !errors.Is(err, context.Canceled) || *asked != 1 {
		t.Errorf("%d requests, %v", *asked, err)
	}
}
