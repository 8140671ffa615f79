package replication

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files that another node offers are written below one directory, or not at all.
func TestOfferStaysInItsDirectory(t *testing.T) {
	whole := func() *offer {
		return &offer{Version: offerVersion, Session: "s", Files: []file{{"MANIFEST-1", 10}, {"sub/000012.sst", 0}}}
	}
	if err := checkOffer(whole()); err != nil {
		t.Errorf("a good offer was refused: %v", err)
	}
	for _, name := range []string{"", "/etc/passwd", "..", "../x", "a/../../x", "sub/../../../x", "a//../../b"} {
		o := whole()
		o.Files[1].Name = name
		if err := checkOffer(o); err == nil || !strings.Contains(err.Error(), "the offer has a file") {
			t.Errorf("file name %q: %v", name, err)
		}
	}
	for what, spoil := range map[string]func(o *offer){
		"a newer version": func(o *offer) { o.Version++ },
		"no session":      func(o *offer) { o.Session = "" },
		"no files":        func(o *offer) { o.Files = nil },
		"too many files":  func(o *offer) { o.Files = make([]file, filesMost+1) },
		"a negative size": func(o *offer) { o.Files[0].Size = -1 },
	} {
		o := whole()
		if spoil(o); checkOffer(o) == nil {
			t.Errorf("%s was taken", what)
		}
	}
}

// offering returns a node that offers one checkpoint of two files, and the directory of these files.
func offering(t *testing.T) (*Node, string, []byte) {
	t.Helper()
	dir := t.TempDir()
	content := bytes.Repeat([]byte("0123456789abcdef"), pieceBytes/16+100)
	for name, b := range map[string][]byte{"a.sst": content, "sub/b.sst": []byte("b")} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := listFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{opts: Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}}
	n.offers.add(&session{dir: dir, offer: offer{Version: offerVersion, Session: "s", LSN: 70, Files: files}})
	t.Cleanup(n.offers.close)
	return n, dir, content
}

// The pieces of a file add up to the file; a piece that is not offered is refused.
func TestReadPiece(t *testing.T) {
	n, _, content := offering(t)
	var got []byte
	for offset := 0; offset < len(content); offset += pieceBytes {
		piece, err := n.readPiece(request(t, pieceRequest{"s", 0, int64(offset)}))
		if err != nil || len(piece) > pieceBytes {
			t.Fatalf("piece at %d: %d bytes, %v", offset, len(piece), err)
		}
		got = append(got, piece...)
	}
	if !bytes.Equal(got, content) {
		t.Errorf("the pieces make %d bytes that are not the file's", len(got))
	}
	for _, r := range []pieceRequest{
		{"other", 0, 0}, {"s", -1, 0}, {"s", 2, 0}, {"s", 0, -1}, {"s", 0, int64(len(content))}, {"s", 1, 1 << 60},
	} {
		if piece, err := n.readPiece(request(t, r)); err == nil {
			t.Errorf("%+v gave %d bytes", r, len(piece))
		}
	}
	if _, err := n.readPiece([]byte("{")); err == nil {
		t.Error("a request that is no JSON was answered")
	}
}

func request(t *testing.T, r pieceRequest) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// While a checkpoint is offered, the stream keeps the commits after it. An offer that ends removes its files.
func TestOfferHoldsTheStream(t *testing.T) {
	n, dir, _ := offering(t)
	if floor := n.offers.floor(100); floor != 70 {
		t.Errorf("commits up to %d may go, want 70", floor)
	}
	if floor := n.offers.floor(50); floor != 50 {
		t.Errorf("commits up to %d may go, want 50", floor)
	}
	if o, err := n.offerTo(openRequest{Session: "s"}); err != nil || o.LSN != 70 {
		t.Errorf("an open offer was found as %+v, %v", o, err)
	}
	n.offers.drop("s")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its files are still there: %v", err)
	}
	if floor := n.offers.floor(100); floor != 100 {
		t.Errorf("it holds the stream at %d", floor)
	}
	if _, err := n.offerTo(openRequest{Session: "s"}); err == nil {
		t.Error("it was offered again")
	}
}
