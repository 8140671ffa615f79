package backup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
)

// TestCheckSet: a set is the backups of all shards of one cluster, once each, in any order; what is wrong is named.
func TestCheckSet(t *testing.T) {
	part := func(name string, shard uint32, shards int, cluster byte) Part {
		return Part{name, Header{Shard: shard, Shards: shards, ClusterID: [16]byte{cluster}}}
	}
	for want, parts := range map[string][]Part{
		"":                          {part("b", 1, 2, 7), part("a", 0, 2, 7)},
		"there is none":             {},
		"missing: 1, 3":             {part("a", 0, 4, 7), part("c", 2, 4, 7)},
		"both a and b are of shard": {part("a", 0, 2, 7), part("b", 0, 2, 7)},
		"a is of a cluster with 2 shards, and b of one with 4 shards":  {part("a", 0, 2, 7), part("b", 1, 4, 7)},
		"a is of a cluster with 2 shards, and b of one with one shard": {part("a", 0, 2, 7), part("b", 1, 0, 7)},
		"a is of the cluster with the id 07":                           {part("a", 0, 2, 7), part("b", 1, 2, 8)},
		"both a and b":                                                 {part("a", 0, 0, 7), part("b", 0, 0, 7)},
	} {
		err := CheckSet(parts)
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrSet) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if err := CheckSet([]Part{part("a", 5, 0, 7)}); err != nil { // a backup of one shard is whole, whatever its number
		t.Error(err)
	}
}

// TestHeaderOfShards: the header of one shard of several has their number, and a version that older readers refuse; with one
// shard it is as it always was. Impossible numbers are damage.
func TestHeaderOfShards(t *testing.T) {
	several := writeHeader(t, Header{Shard: 255, Shards: 256})
	if h, err := Verify(bytes.NewReader(several), nil); err != nil || h.Shard != 255 || h.Shards != 256 || several[4] != 2 {
		t.Errorf("%+v %v", h, err)
	}
	if one := writeHeader(t, Header{Shards: 1}); !bytes.Equal(one, writeHeader(t, Header{})) || one[4] != 1 {
		t.Errorf("%x", one)
	}
	for _, h := range []Header{{Shard: 4, Shards: 4}, {Shards: 3}, {Shards: 512}} {
		if _, err := NewWriter(new(bytes.Buffer), h); err == nil {
			t.Errorf("%+v was written", h)
		}
	}
	for _, bad := range [][3]byte{{0, 0, 0}, {0, 1, 0}, {0, 3, 0}, {1, 4, 0}, {0, 0, 2}} {
		b := appendHeader(nil, &Header{Shards: 4, Shard: 3})
		copy(b[5:], bad[:])
		w := &Writer{w: new(bytes.Buffer), digest: sha256.New(), buf: b}
		if err := w.flushRecord(); err != nil {
			t.Fatal(err)
		}
		if _, err := NewReader(bytes.NewReader(w.buf)); !errors.As(err, new(*DamagedError)) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// writeHeader returns a backup without files.
func writeHeader(t *testing.T, h Header) []byte {
	t.Helper()
	var b bytes.Buffer
	h.Files, h.Bytes = 0, 0
	w, err := NewWriter(&b, h)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
