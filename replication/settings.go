package replication

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Flaw is a setting of a stream in NATS, of a log or of the bucket of the leases, that keeps less than this node's own
// configuration of it would. An operator, or a tool, has changed it.
type Flaw struct {
	Stream  string
	Setting string // as NATS and its command line call it
	Has     string
	Wants   string
	Harm    string // what it costs
	Remedy  string // who does what about it
}

// String returns the warning of the status.
func (f Flaw) String() string {
	return fmt.Sprintf("the stream %s in NATS has %s %s, and should have %s: %s; %s", f.Stream, f.Setting, f.Has, f.Wants, f.Harm, f.Remedy)
}

// setting is one setting that matters to what a cluster promises.
type setting struct {
	name string
	harm string
	show func(c *jetstream.StreamConfig) any
	weak func(has, wants *jetstream.StreamConfig) bool
	// mend sets it as it should be. Only a setting by which NATS removes messages has it, and it never takes anything away: so it
	// can be repeated, and nodes whose configurations differ do not undo each other's. Nil: it is left to an operator.
	mend func(has, wants *jetstream.StreamConfig)
	// flag is the argument of `nats stream edit` that sets it; nil: NATS changes it for no stream.
	flag func(wants *jetstream.StreamConfig) string
}

const (
	harmRemoves = "NATS removes what a node may still need"
	harmWrites  = "NATS refuses writes, or does not confirm them"
)

// settings are the settings that are compared. All others, such as placement, description and compression, are the operator's.
var settings = []setting{
	{
		name: "num_replicas", harm: "what it holds is on fewer NATS servers than promised, and it stands still when they are away",
		show: func(c *jetstream.StreamConfig) any { return c.Replicas },
		weak: func(has, wants *jetstream.StreamConfig) bool { return has.Replicas < wants.Replicas },
		flag: func(wants *jetstream.StreamConfig) string { return fmt.Sprintf("--replicas %d", wants.Replicas) },
	},
	{
		name: "storage", harm: "what it holds is lost when its NATS servers stop",
		show: func(c *jetstream.StreamConfig) any { return c.Storage },
		weak: func(has, wants *jetstream.StreamConfig) bool { return has.Storage != wants.Storage },
	},
	{
		name: "sealed", harm: harmWrites,
		show: func(c *jetstream.StreamConfig) any { return c.Sealed },
		weak: func(has, wants *jetstream.StreamConfig) bool { return has.Sealed && !wants.Sealed },
	},
	limit("max_age", func(c *jetstream.StreamConfig) *time.Duration { return &c.MaxAge }, 0),
	limit("max_msgs", func(c *jetstream.StreamConfig) *int64 { return &c.MaxMsgs }, -1),
	limit("max_bytes", func(c *jetstream.StreamConfig) *int64 { return &c.MaxBytes }, -1),
	limit("max_msgs_per_subject", func(c *jetstream.StreamConfig) *int64 { return &c.MaxMsgsPerSubject }, -1),
	{
		name: "discard", harm: "a full stream does not do what the cluster counts on",
		show: func(c *jetstream.StreamConfig) any { return c.Discard },
		weak: func(has, wants *jetstream.StreamConfig) bool { return has.Discard != wants.Discard },
		mend: func(has, wants *jetstream.StreamConfig) { has.Discard, has.DiscardNewPerSubject = wants.Discard, false },
	},
	{
		name: "retention", harm: harmRemoves,
		show: func(c *jetstream.StreamConfig) any { return c.Retention },
		weak: func(has, wants *jetstream.StreamConfig) bool { return has.Retention != wants.Retention },
		mend: func(has, wants *jetstream.StreamConfig) { has.Retention = wants.Retention },
	},
	{
		name: "deny_delete", harm: "single messages can be deleted by hand",
		show: func(c *jetstream.StreamConfig) any { return c.DenyDelete },
		weak: func(has, wants *jetstream.StreamConfig) bool { return wants.DenyDelete && !has.DenyDelete },
		mend: func(has, _ *jetstream.StreamConfig) { has.DenyDelete = true },
	},
	{
		name: "max_msg_size", harm: harmWrites,
		show: func(c *jetstream.StreamConfig) any { return unlimited(int64(c.MaxMsgSize)) },
		weak: func(has, wants *jetstream.StreamConfig) bool { return isLess(has.MaxMsgSize, wants.MaxMsgSize) },
		flag: func(*jetstream.StreamConfig) string { return "--max-msg-size=-1" },
	},
	{
		name: "no_ack", harm: harmWrites,
		show: func(c *jetstream.StreamConfig) any { return c.NoAck },
		weak: func(has, wants *jetstream.StreamConfig) bool { return has.NoAck && !wants.NoAck },
		flag: func(*jetstream.StreamConfig) string { return "--ack" },
	},
	{
		name: "allow_direct", harm: "nodes cannot read it",
		show: func(c *jetstream.StreamConfig) any { return c.AllowDirect },
		weak: func(has, wants *jetstream.StreamConfig) bool { return wants.AllowDirect && !has.AllowDirect },
		flag: func(*jetstream.StreamConfig) string { return "--allow-direct" },
	},
	{
		name: "subjects", harm: harmWrites,
		show: func(c *jetstream.StreamConfig) any { return strings.Join(c.Subjects, ",") },
		weak: func(has, wants *jetstream.StreamConfig) bool {
			return slices.ContainsFunc(wants.Subjects, func(s string) bool { return !slices.Contains(has.Subjects, s) })
		},
		flag: func(wants *jetstream.StreamConfig) string {
			return "--subjects '" + strings.Join(wants.Subjects, ",") + "'"
		},
	},
}

// limit is a setting from which on NATS removes messages, or refuses them in the bucket. none stands for no limit.
func limit[T ~int64](name string, of func(*jetstream.StreamConfig) *T, none T) setting {
	return setting{
		name: name, harm: harmRemoves,
		show: func(c *jetstream.StreamConfig) any { return unlimited(*of(c)) },
		weak: func(has, wants *jetstream.StreamConfig) bool { return isLess(*of(has), *of(wants)) },
		mend: func(has, wants *jetstream.StreamConfig) {
			if *of(has) = *of(wants); *of(has) <= 0 {
				*of(has) = none
			}
		},
	}
}

// isLess reports whether a limit is lower than another one; none is 0 or less.
func isLess[T ~int32 | ~int64](has, wants T) bool { return has > 0 && (wants <= 0 || has < wants) }

// unlimited returns a limit, or a word for none.
func unlimited[T ~int64](v T) any {
	if v <= 0 {
		return "unlimited"
	}
	return v
}

// compare returns the flaws of a stream, and its configuration with those mended that a leader sets back; mends says whether
// there are any.
func compare(has, wants jetstream.StreamConfig) (flaws []Flaw, mended jetstream.StreamConfig, mends bool) {
	mended = has
	for _, s := range settings {
		if !s.weak(&has, &wants) {
			continue
		}
		flaws = append(flaws, Flaw{
			Stream: wants.Name, Setting: s.name, Has: fmt.Sprint(s.show(&has)), Wants: fmt.Sprint(s.show(&wants)), Harm: s.harm, Remedy: s.remedy(&wants),
		})
		if s.mend != nil {
			s.mend(&mended, &wants)
			mends = true
		}
	}
	return flaws, mended, mends
}

// remedy says who does what about a flaw.
func (s *setting) remedy(wants *jetstream.StreamConfig) string {
	switch {
	case s.mend != nil:
		return "the node that leads sets it back within a minute, and its log says so, or why NATS refuses that"
	case s.flag != nil:
		return fmt.Sprintf("set it back: nats stream edit %s %s", wants.Name, s.flag(wants))
	default:
		return fmt.Sprintf("NATS cannot change that: while status shows a node that leads its shard and may launch, delete the stream, which that node makes anew: nats stream rm %s", wants.Name)
	}
}
