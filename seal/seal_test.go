package seal_test

import (
	"testing"

	"github.com/carillon-io/carillon/seal"
)

// TestSeal: a seal is right for its own message under its own key, and for no other.
func TestSeal(t *testing.T) {
	key := []byte("key")
	// Releases before this package made the same seal of a request.
	if got, want := seal.Of(key, seal.Forward, "a.b", []byte("{}"), []byte("body")), "CkYYeWSGFtE14KRAkMUzUCqhXbqHaz8R2qcuVN12HLk"; got != want {
		t.Errorf("the seal is %s, want %s", got, want)
	}
	given := seal.Of(key, seal.Usage, "a.b", nil, []byte("body"))
	for name, is := range map[string]bool{
		"another key":     seal.Is(given, []byte("other"), seal.Usage, "a.b", nil, []byte("body")),
		"another kind":    seal.Is(given, key, seal.Forward, "a.b", nil, []byte("body")),
		"another subject": seal.Is(given, key, seal.Usage, "a.c", nil, []byte("body")),
		"another header":  seal.Is(given, key, seal.Usage, "a.b", []byte("x"), []byte("body")),
		"another body":    seal.Is(given, key, seal.Usage, "a.b", nil, []byte("bodies")),
		"none":            seal.Is("", key, seal.Usage, "a.b", nil, []byte("body")),
	} {
		if is {
			t.Errorf("the seal is right for %s", name)
		}
	}
	if !seal.Is(given, key, seal.Usage, "a.b", nil, []byte("body")) {
		t.Error("the seal is wrong for its own message")
	}
}
