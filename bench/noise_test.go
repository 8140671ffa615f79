package bench

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoiseIsWhatItsMixSays: each mix asks for what it is named after, and JSON of ours is JSON.
func TestNoiseIsWhatItsMixSays(t *testing.T) {
	for mix, want := range map[string]string{
		"unknown": "jobs.nonsense_", "large": "jobs.put", "costly": "jobs.put schedules.next", "readers": readersSubject,
		"random": strings.Join(noiseVerbs, " "),
	} {
		next := noiseOf(mix, rand.New(rand.NewPCG(1, 2)))
		for i := range 3000 {
			subject, body := next(i)
			verb := strings.TrimPrefix(subject, "carillon.v1."+noisyTenant+".")
			if mix == "unknown" {
				verb = strings.TrimRight(verb, "0123456789")
			}
			if !strings.Contains(want, verb) {
				t.Fatalf("%s: request %d asks for %s; want %s", mix, i, verb, want)
			}
			if mix == "large" && len(body) < largeBytes {
				t.Fatalf("%s: %d bytes; want over %d", mix, len(body), largeBytes)
			}
			if (mix == "large" || mix == "costly") && i < 4 && !json.Valid(body) {
				t.Errorf("%s: request %d is no JSON", mix, i)
			}
		}
	}
}

// TestTokensAreInTheAddress: the file is for its owner alone, and a client gets its token with the address.
func TestTokensAreInTheAddress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.yaml")
	keys, err := rightsFile(path, []string{"a", "b"}, 3, 10)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "token_sha256") != 12 || strings.Contains(string(text), keys["a"]) {
		t.Errorf("the file is %s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if got, want := keys.of("a", "nats://127.0.0.1:1"), "nats://"+keys["a"]+"@127.0.0.1:1"; got != want || keys["a"] == keys["b"] {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := tokens(nil).of("a", "nats://127.0.0.1:1"); got != "nats://127.0.0.1:1" {
		t.Errorf("an open server is at %s", got)
	}
}
