package replication

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/transfer"
)

// The files that another node offers are written below one directory, or not at all.
func TestOfferStaysInItsDirectory(t *testing.T) {
	whole := func() *offer {
		return &offer{Version: offerVersion, Session: "s", Files: []transfer.File{{Name: "MANIFEST-1", Size: 10}, {Name: "sub/000012.sst"}}}
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
		"too many files":  func(o *offer) { o.Files = make([]transfer.File, filesMost+1) },
		"a negative size": func(o *offer) { o.Files[0].Size = -1 },
	} {
		o := whole()
		if spoil(o); checkOffer(o) == nil {
			t.Errorf("%s was taken", what)
		}
	}
}

// TestOfferFormat: nodes of different releases send each other offers.
func TestOfferFormat(t *testing.T) {
	b, err := json.Marshal(offer{
		Version: offerVersion, Session: "s", Own: ownPart, LSN: 7, Epoch: 2, Hash: [16]byte{1}, Files: []transfer.File{{Name: "sub/a.sst", Size: 9}},
	})
	want := `{"version":1,"session":"s","own":"part","lsn":7,"epoch":2,"hash":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"files":[{"name":"sub/a.sst","size":9}]}`
	if err != nil || string(b) != want {
		t.Errorf("an offer is encoded as %s, %v; want %s", b, err, want)
	}
}

// offering returns a node that offers one checkpoint of two files, the offer, the directory of these files, and the
// content of the first one.
func offering(t *testing.T) (n *Node, s *session, dir string, content []byte) {
	t.Helper()
	dir = t.TempDir()
	content = bytes.Repeat([]byte("0123456789abcdef"), pieceBytes/16+100)
	for name, b := range map[string][]byte{"a.sst": content, "sub/b.sst": []byte("b")} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n = &Node{opts: Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}, offers: newOffers()}
	t.Cleanup(n.offers.Close)
	made := make(chan *session, 1)
	n.offers.Make(func(context.Context, string) (string, job.Position, error) {
		return dir, job.Position{LSN: 70}, nil
	}, func(s *session, err error) {
		if err != nil {
			t.Error(err)
		}
		made <- s
	})
	return n, <-made, dir, content
}

// The pieces of a file add up to the file; a piece that is not offered is refused.
func TestReadPiece(t *testing.T) {
	n, s, _, content := offering(t)
	var got []byte
	for offset := 0; offset < len(content); offset += pieceBytes {
		piece, err := n.readPiece(request(t, pieceRequest{s.Name, 0, int64(offset)}))
		if err != nil || len(piece) > pieceBytes {
			t.Fatalf("piece at %d: %d bytes, %v", offset, len(piece), err)
		}
		got = append(got, piece...)
	}
	if !bytes.Equal(got, content) {
		t.Errorf("the pieces make %d bytes that are not the file's", len(got))
	}
	for _, r := range []pieceRequest{
		{"other", 0, 0}, {s.Name, -1, 0}, {s.Name, 2, 0}, {s.Name, 0, -1}, {s.Name, 0, int64(len(content))}, {s.Name, 1, 1 << 60},
	} {
		if piece, err := n.readPiece(request(t, r)); !errors.Is(err, errNoPiece) {
			t.Errorf("%+v gave %d bytes, %v", r, len(piece), err)
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
	n, s, dir, _ := offering(t)
	if floor := n.offersFloor(100); floor != 70 {
		t.Errorf("commits up to %d may go, want 70", floor)
	}
	if floor := n.offersFloor(50); floor != 50 {
		t.Errorf("commits up to %d may go, want 50", floor)
	}
	if again, err := n.offered(s.Name); err != nil || again != s {
		t.Errorf("an open offer was found as %+v, %v", again, err)
	}
	n.offers.Drop(s.Name)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its files are still there: %v", err)
	}
	if floor := n.offersFloor(100); floor != 100 {
		t.Errorf("it holds the stream at %d", floor)
	}
	if _, err := n.offered(s.Name); !errors.Is(err, errOfferGone) {
		t.Errorf("it was offered again, %v", err)
	}
}
