package inbox

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestAllows(t *testing.T) {
	named, err := NewRule("carillon", "_CINBOX", "team.replies")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		subject      string
		usual, named bool // by the rule without prefixes, and by the one with some
	}{
		{"_INBOX.abc", true, true},
		{"_INBOX.abc.1", true, true},
		{"_INBOX_alice.abc", true, true},
		{"_R_.abc", true, true},
		{"_R_abc.def", true, true},
		{"_GR_.hub.srv._INBOX.abc", true, true},
		{"_GR_.hub.srv._R_.abc", true, true},
		{"_CINBOX.abc", false, true},
		{"_CINBOX_bob.abc", false, true},
		{"_GR_.hub.srv._CINBOX.abc", false, true},
		{"team.replies.abc", false, true},
		{"team.other", false, false},
		{"carillon.v1.b.jobs.put_many", false, false},
		{"_GR_.hub.srv.carillon.v1.b.jobs.put_many", false, false},
		{"_GR_.hub.srv._GR_.hub.srv._INBOX.abc", false, false},
		{"_GR_._INBOX._INBOX", false, false},
		{"_GR_._INBOX", false, false},
		{"_GR_.", false, false},
		{"_inbox.abc", false, false},
		{"x._INBOX.abc", false, false},
		{"$JS.ACK.S.C.1.1.1.1.0", false, false},
		{"orders.new", false, false},
		{"_INBO", false, false},
		{OfRuns + ".abc.1-2", false, false},
		{"_GR_.hub.srv." + OfRuns + ".abc.1-2", false, false},
	} {
		if got := (*Rule)(nil).Allows(tc.subject); got != tc.usual {
			t.Errorf("%s: %t without prefixes", tc.subject, got)
		}
		if got := named.Allows(tc.subject); got != tc.named {
			t.Errorf("%s: %t with prefixes", tc.subject, got)
		}
	}
}

func TestRefusedPrefixes(t *testing.T) {
	for _, tc := range []struct{ own, prefix string }{
		{"carillon", ""}, {"carillon", "$SYS"}, {"carillon", "$"}, {"carillon", "a b"}, {"carillon", "a*"}, {"carillon", "a.>"},
		{"carillon", ".a"}, {"carillon", "a."}, {"carillon", "a..b"}, {"carillon", "a\tb"}, {"carillon", "a\x00b"},
		{"carillon", strings.Repeat("a", PrefixBytesMax+1)},
		{"carillon", "carillon"}, {"carillon", "c"}, {"carillon", "carillon.v1"}, {"carillon", "_GR_"}, {"carillon", "_GR_.a.b"},
		{"_INBOX", "_CINBOX"}, {"_INBOX_x", "_CINBOX"}, {"_R_", "_CINBOX"}, {"_GR_", "_CINBOX"},
	} {
		if _, err := NewRule(tc.own, tc.prefix); err == nil || !strings.Contains(err.Error(), "prefix of inboxes") {
			t.Errorf("%q beside the service's %q: %v", tc.prefix, tc.own, err)
		}
	}
	var many []string
	for i := range PrefixesMax + 1 {
		many = append(many, fmt.Sprint("_I", i))
	}
	if _, err := NewRule("carillon", many...); err == nil {
		t.Error("too many are allowed")
	}
	for _, prefix := range []string{"_CINBOX", "carillon2", "carillon_inbox", "a.b", "_"} {
		if _, err := NewRule("carillon", prefix); err != nil {
			t.Error(err)
		}
	}
}

// TestDropsAreSaidSeldom counts each request and logs one a minute.
func TestDropsAreSaidSeldom(t *testing.T) {
	r, now := new(Rule), time.Unix(1_800_000_000, 0)
	for i, tc := range []struct {
		after time.Duration
		say   bool
	}{{0, true}, {time.Second, false}, {sayEvery - time.Nanosecond, false}, {sayEvery, true}, {sayEvery, false}} {
		n, say := r.drop(now.Add(tc.after))
		if n != uint64(i+1) || say != tc.say {
			t.Errorf("drop %d: %d, said %t", i+1, n, say)
		}
	}
	if r.Dropped() != 5 {
		t.Errorf("%d dropped", r.Dropped())
	}
}

// TestOverlaps: patterns that include an inbox are found, whatever wildcard they have.
func TestOverlaps(t *testing.T) {
	r, err := NewRule("carillon", "team.box")
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]bool{
		">": true, "*.>": true, "*": true, "_INBOX.>": true, "_INBOX_alice.*": true, "_INBOX.x.y": true, "_R_.*": true, "_GR_.a.b.>": true,
		"team.>": true, "team.box.*": true, "team.boxes": true, "*.box.>": true, "team.*": true,
		"team": false, "team.bo": false, "work.>": false, "work.*": false, "INBOX.>": false, "team.out.box": false,
	} {
		if got := r.Overlaps(pattern); got != want {
			t.Errorf("%s: %t; want %t", pattern, got, want)
		}
	}
	if (*Rule)(nil).Overlaps("team.box.x") || !(*Rule)(nil).Overlaps("_INBOX.>") {
		t.Error("a nil rule has not the usual inboxes")
	}
}
