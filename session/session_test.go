package session

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = time.Unix(1_800_000_000, 0)

func seal(t testing.TB, key []byte, kind, content string, until time.Time) string {
	t.Helper()
	value, err := Seal(key, kind, []byte(content), until)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestSealed: what is sealed comes back until its end, with the same key and as the same kind, and no byte of it can be
// changed.
func TestSealed(t *testing.T) {
	key := NewKey()
	value := seal(t, key, "a", "content", noon)
	if got, ok := Open(key, "a", value, noon.Add(-time.Second)); !ok || string(got) != "content" {
		t.Errorf("opened as %q, %t", got, ok)
	}
	for what, ok := range map[string]bool{
		"at its end":     second(Open(key, "a", value, noon)),
		"another kind":   second(Open(key, "b", value, noon.Add(-time.Second))),
		"another key":    second(Open(NewKey(), "a", value, noon.Add(-time.Second))),
		"nothing":        second(Open(key, "a", "", noon.Add(-time.Second))),
		"with padding":   second(Open(key, "a", value+"=", noon.Add(-time.Second))),
		"a longer value": second(Open(key, "a", value+strings.Repeat("A", SealedBytesMax), noon.Add(-time.Second))),
	} {
		if ok {
			t.Errorf("%s: it opens", what)
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(raw) {
		changed := bytes.Clone(raw)
		changed[bit/8] ^= 1 << (bit % 8)
		if _, ok := Open(key, "a", base64.RawURLEncoding.EncodeToString(changed), noon.Add(-time.Second)); ok {
			t.Fatalf("with the bit %d changed it opens", bit)
		}
	}
	if other := seal(t, key, "a", "content", noon); other == value {
		t.Error("the same content is sealed to the same value twice")
	}
}

func second(_ []byte, ok bool) bool { return ok }

// TestLargest: what fits opens, and what does not is refused when it is sealed.
func TestLargest(t *testing.T) {
	key := NewKey()
	most := 0
	for n := 2000; ; n++ {
		value, err := Seal(key, "a", make([]byte, n), noon)
		if errors.Is(err, ErrTooLarge) {
			break
		}
		if got, ok := Open(key, "a", value, noon.Add(-time.Second)); !ok || len(got) != n {
			t.Fatalf("%d bytes do not come back", n)
		}
		most = n
	}
	if most < 2500 || most > SealedBytesMax {
		t.Errorf("the largest content has %d bytes", most)
	}
}

// FuzzOpen: nothing opens that was not sealed, and nothing makes it panic.
func FuzzOpen(f *testing.F) {
	key := bytes.Repeat([]byte{7}, KeyBytes)
	good := seal(f, key, "a", "content", noon)
	for _, s := range []string{"", "A", good, good[1:], good[:len(good)-1], good + "A", strings.Repeat("A", 17), "AQ", strings.Repeat("_", SealedBytesMax)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		content, ok := Open(key, "a", value, noon.Add(-time.Second))
		if !ok {
			return
		}
		// Each process of a fuzzer seals a good one of its own.
		raw, err := base64.RawURLEncoding.DecodeString(value)
		if err != nil || base64.RawURLEncoding.EncodeToString(raw) != value || string(content) != "content" {
			t.Errorf("%q opens as %q", value, content)
		}
	})
}
