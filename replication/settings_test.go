package replication

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestSettingsAreCompared: each change of a stream that weakens what the cluster promises is a flaw, and what removes messages
// is set back. What an operator may have a reason for is left alone.
func TestSettingsAreCompared(t *testing.T) {
	wants := streamConfig("S", "log", 3, 1<<20)
	for _, tt := range []struct {
		name   string
		change func(c *jetstream.StreamConfig)
		flaw   string // its setting; "": none
		mends  bool
		remedy string
	}{
		{"nothing", func(*jetstream.StreamConfig) {}, "", false, ""},
		{"as NATS shows it", func(c *jetstream.StreamConfig) { c.MaxMsgs, c.MaxMsgsPerSubject, c.MaxMsgSize = -1, -1, -1 }, "", false, ""},
		{"more replicas", func(c *jetstream.StreamConfig) { c.Replicas = 5 }, "", false, ""},
		{"more room", func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 30 }, "", false, ""},
		{"all room", func(c *jetstream.StreamConfig) { c.MaxBytes = -1 }, "", false, ""},
		{"a description", func(c *jetstream.StreamConfig) { c.Description = "mine" }, "", false, ""},
		{"fewer replicas", func(c *jetstream.StreamConfig) { c.Replicas = 1 }, "num_replicas", false, "nats stream edit S --replicas 3"},
		{"in memory", func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "storage", false, "nats stream rm S"},
		{"sealed", func(c *jetstream.StreamConfig) { c.Sealed = true }, "sealed", false, "nats stream rm S"},
		{"an age", func(c *jetstream.StreamConfig) { c.MaxAge = time.Second }, "max_age", true, "sets it back"},
		{"a number", func(c *jetstream.StreamConfig) { c.MaxMsgs = 10 }, "max_msgs", true, "sets it back"},
		{"less room", func(c *jetstream.StreamConfig) { c.MaxBytes = 2000 }, "max_bytes", true, "sets it back"},
		{"a number by subject", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 10 }, "max_msgs_per_subject", true, "sets it back"},
		{"full is full", func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardNew }, "discard", true, "sets it back"},
		{"kept while there is interest", func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }, "retention", true, "sets it back"},
		{"deletes", func(c *jetstream.StreamConfig) { c.DenyDelete = false }, "deny_delete", true, "sets it back"},
		{"small messages", func(c *jetstream.StreamConfig) { c.MaxMsgSize = 100 }, "max_msg_size", false, "nats stream edit S --max-msg-size=-1"},
		{"no acknowledgements", func(c *jetstream.StreamConfig) { c.NoAck = true }, "no_ack", false, "nats stream edit S --ack"},
		{"no direct reads", func(c *jetstream.StreamConfig) { c.AllowDirect = false }, "allow_direct", false, "nats stream edit S --allow-direct"},
		{"other subjects", func(c *jetstream.StreamConfig) { c.Subjects = []string{"x"} }, "subjects", false, "nats stream edit S --subjects 'log'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			has := wants
			tt.change(&has)
			flaws, mended, mends := compare(has, wants)
			if tt.flaw == "" {
				if len(flaws) > 0 || mends {
					t.Errorf("got %v, and it is set back: %v; want no flaw", flaws, mends)
				}
				return
			}
			if len(flaws) != 1 || flaws[0].Setting != tt.flaw || mends != tt.mends || !strings.Contains(flaws[0].String(), tt.remedy) {
				t.Errorf("got %v, and it is set back: %v; want %s, %v, with %q", flaws, mends, tt.flaw, tt.mends, tt.remedy)
			}
			if left, _, _ := compare(mended, wants); tt.mends != (len(left) == 0) {
				t.Errorf("after what the leader does there is %v", left)
			}
		})
	}
}

// TestSettingsAreLookedAtInTime: a stream costs a request a minute, and one more when a process begins to lead that may set
// something back.
func TestSettingsAreLookedAtInTime(t *testing.T) {
	const at = time.Hour
	for _, tt := range []struct {
		name  string
		look  settingsLook
		now   time.Duration
		leads bool
		want  bool
	}{
		{"never", settingsLook{}, 1, false, true},
		{"just now", settingsLook{at: at}, at + settingsTick, false, false},
		{"a minute ago", settingsLook{at: at}, at + settingsEvery, false, true},
		{"it leads, and all is well", settingsLook{at: at}, at + settingsTick, true, false},
		{"it leads now", settingsLook{at: at, mends: true}, at + settingsTick, true, true},
		{"NATS refused", settingsLook{at: at, mends: true, led: true}, at + settingsTick, true, false},
	} {
		if got := tt.look.due(tt.now, tt.leads); got != tt.want {
			t.Errorf("%s: due %v; want %v", tt.name, got, tt.want)
		}
	}
}
