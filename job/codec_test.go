package job

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/schedule"
)

var rewrite = flag.Bool("rewrite-golden", false, "write testdata/rows_v2.txt anew")

// sampleDefinition sets every field, so that a field that the codec forgets is missed.
func sampleDefinition() Definition {
	d := Defaults()
	d.Tenant, d.Name = "acme", "billing/daily"
	d.Schedule, d.Timezone = "0 8 * * 1-5", "America/New_York"
	d.StartsAt, d.EndsAt, d.MaxRuns, d.Jitter = 1764547200000, 1796083200000, 7, 3*time.Second
	d.Target = Target{Kind: TargetHTTP, Subject: "s", URL: "https://example.com/hook", Method: "POST", Handler: "h"}
	d.Payload, d.PayloadJSON = []byte(`{"a":1}`), true
	d.Headers = []Pair{{"X-A", "1"}, {"X-B", "2"}}
	d.Completion, d.AttemptTimeout = CompletionReported, 5*time.Second
	d.Retry = Retry{MaxAttempts: 4, InitialInterval: time.Second, Multiplier: 1.5, MaxInterval: time.Minute, MaxAge: time.Hour}
	d.Overlap, d.Missed = OverlapBufferOne, MissedBackfill
	d.CatchupWindow, d.MaxCatchupRuns = 2*time.Hour, 11
	d.Schedules, d.Exclude = []string{"@daily", "@hourly"}, []string{"2026-12-25"}
	d.Retry.Jitter, d.Retry.ClientErrors, d.PauseOnFailure, d.MaxConcurrent = 0.25, true, 6, 8
	d.Paused, d.Labels, d.Description = true, []Pair{{"team", "billing"}}, "sends the report"
	return d
}

func sampleRun() Run {
	return Run{
		ID: RunID{Job: 77, At: 1764576000000, Seq: 3}, Status: StatusDead, Reason: ReasonOverlap, Until: 1764576060000,
		Attempt: 3, Base: 2, Deadline: 1764576009000, Stale: 1, Fence: 99, Due: 1764576000500, LaunchedAt: 1764576000501, FinishedAt: 1764576000600,
		Lateness: 412 * time.Microsecond, Duration: 98 * time.Millisecond, Error: "HTTP 503", Result: "r", HasPayload: true,
		Attempts: []Attempt{{Number: 1, Fence: 97, LaunchedAt: 1764576000001, Duration: time.Millisecond, Error: "refused"}},
	}
}

func samplePositions() (Timer, Profile, Note) {
	return Timer{Profile: 5, Cursor: 1764576000000, Last: 1764489600000, Version: 3, Runs: 8, Manual: 2, Flags: FlagPaused | FlagLastManual},
		Profile{
			Spec:    schedule.Spec{Expr: "0 8 * * 1-5", Exclude: "2026-12-25", Zone: "America/New_York", StartsAt: 1, EndsAt: 2},
			Overlap: OverlapSkip, Missed: MissedFireOnce, CatchupWindow: 3600000, MaxCatchupRuns: 10, MaxRuns: 4,
			Retry: Defaults().Retry, Jitter: 5000, MaxConcurrent: 2, PauseOnFailure: 3, ReportWithin: 30_000,
		},
		Note{At: 1764576000000, Reason: "holiday", By: "ann"}
}

func sampleDebts() []Debt {
	return []Debt{
		{From: 1764576000000, Last: 1764576120000, Step: 60_000}, {From: 1764576125000, Last: 1764576125000, Joined: true},
		{From: 1764580000000, Last: 1764580000000},
	}
}

func sampleAudit() AuditEntry {
	return AuditEntry{
		ID: AuditID{LSN: 900, Seq: 2}, At: 1764576000000, Actor: Actor{By: "ann", From: "nats"}, Action: ActionUpdate,
		Tenant: "acme", Name: "billing/daily", Job: 77, Detail: "d", Before: []byte("b"), After: []byte("a"),
	}
}

func sampleNotice() Notice {
	return Notice{
		ID: NoticeID{LSN: 901, Seq: 3}, Dead: true, Event: true, At: 1764576000000, Run: sampleRun().ID, Status: StatusDead,
		Reason: ReasonMissed, Until: 1764576000001, Attempt: 3, Fence: 99, Error: "HTTP 503",
		Tenant: "acme", Name: "n",
	}
}

func sampleCalendar() Calendar {
	return Calendar{Tenant: "acme", Name: "holidays", Exclude: []string{"2026-12-25"}, Description: "x", Version: 2, UpdatedAt: 1764576000000}
}

// sampleBatch holds one change of each kind.
func sampleBatch() *Batch {
	var b Batch
	d, run := sampleDefinition(), sampleRun()
	timer, profile, note := samplePositions()
	b.PutMeta("epoch", 12)
	b.PutProfile(5, profile)
	b.PutRecord(Stamp{ID: 77, Version: 3, CreatedAt: 1, UpdatedAt: 2, Anchor: 3}, EncodeDefinition(&d))
	b.PutName(d.Tenant, d.Name, 77)
	b.PutTimer(77, timer)
	b.PutRun(&run)
	b.PutHistory(&run)
	b.PutNote(77, note)
	b.PutOnce(20423, "key-1", run.ID)
	b.PutPayload(run.ID, []byte("[1]"), true)
	b.PutStreak(77, 4)
	b.PutDebt(77, sampleDebts())
	b.PutDead(HashTenant(d.Tenant), run.ID)
	entry, notice, calendar := sampleAudit(), sampleNotice(), sampleCalendar()
	b.PutNotice(&notice)
	b.PutAudit(&entry)
	b.PutCalendar(&calendar)
	b.PutLabel(HashLabel("acme", Pair{"team", "billing"}), d.Name)
	b.PutTrait(HashTenant(d.Tenant), TraitPaused, 77)
	b.DeleteRun(run.ID)
	b.DeletePayload(run.ID)
	b.DeleteName(d.Tenant, d.Name)
	b.DeleteJobRow(KindTimer, 77)
	b.DeleteProfile(5)
	b.DeleteDead(HashTenant(d.Tenant), run.ID)
	b.DeleteNotice(notice.ID)
	b.DeleteLabel(HashLabel("acme", Pair{"team", "billing"}), d.Name)
	b.DeleteTrait(HashTenant(d.Tenant), TraitPaused, 77)
	b.DeleteCalendar("acme", "holidays")
	b.DeleteRange(AppendBucket(nil, KindHistory, 1), AppendBucket(nil, KindHistory, 9))
	return &b
}

func TestRowsRoundTrip(t *testing.T) {
	wantDef, wantRun := sampleDefinition(), sampleRun()
	wantTimer, wantProfile, wantNote := samplePositions()
	check := func(what string, got, want any, err error) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v (%v)\nwant %+v", what, got, err, want)
		}
	}
	puts := 0
	err := Changes(sampleBatch().Bytes(), func(c Change) error {
		if c.Op != OpPut {
			return nil
		}
		puts++
		switch Kind(c.Key[0]) {
		case KindMeta:
			n, err := DecodeMeta(c.Value)
			check("meta", n, uint64(12), err)
		case KindProfile:
			p, err := DecodeProfile(c.Value)
			check("profile", p, wantProfile, err)
		case KindJob:
			rec, err := DecodeRecord(77, c.Value)
			check("job", rec, Record{Stamp: Stamp{ID: 77, Version: 3, CreatedAt: 1, UpdatedAt: 2, Anchor: 3}, Def: wantDef}, err)
		case KindName:
			id, err := DecodeName(c.Value)
			check("name", id, ID(77), err)
			tenant, name, err := ParseNameKey(c.Key)
			check("name key", tenant+" "+name, "acme billing/daily", err)
		case KindTimer:
			timer, err := DecodeTimer(c.Value)
			check("timer", timer, wantTimer, err)
		case KindRun, KindHistory:
			id, err := ParseRunKey(c.Key)
			check("run key", id, wantRun.ID, err)
			run, err := DecodeRun(id, c.Value)
			check("run", run, wantRun, err)
		case KindNote:
			n, err := DecodeNote(c.Value)
			check("note", n, wantNote, err)
		case KindOnce:
			id, err := DecodeOnce(c.Value)
			check("once", id, wantRun.ID, err)
		case KindRunPayload:
			p, isJSON, err := DecodePayload(c.Value)
			check("payload", fmt.Sprint(string(p), isJSON), "[1]true", err)
		case KindStreak:
			n, err := DecodeStreak(c.Value)
			check("streak", n, uint32(4), err)
		case KindDebt:
			d, err := DecodeDebt(c.Value)
			check("debt", d, sampleDebts(), err)
		case KindDead:
			id, err := ParseDeadKey(c.Key)
			check("dead", id, wantRun.ID, err)
		case KindOutbox:
			n, err := DecodeNotice(c.Key, c.Value)
			check("notice", n, sampleNotice(), err)
		case KindAudit:
			_, id, err := ParseAuditKey(c.Key)
			check("audit key", id, sampleAudit().ID, err)
			e, err := DecodeAudit(id, c.Value)
			check("audit", e, sampleAudit(), err)
		case KindCalendar:
			got, err := DecodeCalendar(c.Key, c.Value)
			check("calendar", got, sampleCalendar(), err)
		case KindLabel:
			label, name, err := ParseLabelKey(c.Key)
			check("label", fmt.Sprint(label, name), fmt.Sprint(HashLabel("acme", Pair{"team", "billing"}), "billing/daily"), err)
		case KindTrait:
			trait, id, err := ParseTraitKey(c.Key)
			check("trait", fmt.Sprint(trait, id), fmt.Sprint(TraitPaused, ID(77)), err)
		}
		return nil
	})
	if err != nil || puts != 18 {
		t.Fatalf("%d puts, %v", puts, err)
	}
}

// TestGoldenRows pins the bytes that this build writes: a change of the codec that older data could
// not follow shows here.
func TestGoldenRows(t *testing.T) {
	const path = "testdata/rows_v2.txt"
	var out strings.Builder
	err := Changes(sampleBatch().Bytes(), func(c Change) error {
		_, err := fmt.Fprintf(&out, "op %d key %x value %x\n", c.Op, c.Key, c.Value)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the bytes of rows have changed; a new version is needed.\ngot:\n%s\nwant:\n%s", out.String(), want)
	}
}

// TestCutRows cuts a batch at every byte and flips every byte: errors, never a panic, and never more
// changes than there were.
func TestCutRows(t *testing.T) {
	whole := sampleBatch().Bytes()
	for n := range whole {
		decodeAll(whole[:n])
		flipped := bytes.Clone(whole)
		flipped[n] ^= 0xff
		decodeAll(flipped)
	}
}

// decodeAll decodes every row of a batch by its kind.
func decodeAll(batch []byte) {
	_ = Changes(batch, func(c Change) error {
		switch Kind(c.Key[0]) {
		case KindMeta:
			_, _ = DecodeMeta(c.Value)
		case KindProfile:
			_, _ = DecodeProfile(c.Value)
			_, _ = ParseProfileKey(c.Key)
		case KindJob:
			_, _ = DecodeRecord(1, c.Value)
		case KindName:
			_, _ = DecodeName(c.Value)
			_, _, _ = ParseNameKey(c.Key)
		case KindTimer:
			_, _ = DecodeTimer(c.Value)
			_, _ = ParseJobKey(c.Key)
		case KindRun, KindHistory:
			id, _ := ParseRunKey(c.Key)
			_, _ = DecodeRun(id, c.Value)
		case KindNote:
			_, _ = DecodeNote(c.Value)
		case KindOnce:
			_, _ = DecodeOnce(c.Value)
		case KindPayload, KindRunPayload:
			_, _, _ = DecodePayload(c.Value)
		case KindStreak:
			_, _ = DecodeStreak(c.Value)
		case KindDebt:
			_, _ = DecodeDebt(c.Value)
		case KindDead:
			_, _ = ParseDeadKey(c.Key)
		case KindOutbox:
			_, _ = DecodeNotice(c.Key, c.Value)
		case KindAudit:
			_, _ = DecodeAudit(AuditID{}, c.Value)
			_, _, _ = ParseAuditKey(c.Key)
		case KindCalendar:
			_, _ = DecodeCalendar(c.Key, c.Value)
		case KindLabel:
			_, _, _ = ParseLabelKey(c.Key)
		case KindTrait:
			_, _, _ = ParseTraitKey(c.Key)
		case KindDeleted:
			_, _ = DecodeDeleted(1, c.Value)
		}
		return nil
	})
}

func FuzzChanges(f *testing.F) {
	f.Add(sampleBatch().Bytes())
	f.Add([]byte{})
	f.Add([]byte{batchVersion, 1, 1, 1, 0})
	f.Fuzz(func(_ *testing.T, b []byte) { decodeAll(b) })
}

func TestRunKeysSortNewestFirst(t *testing.T) {
	runs := []RunID{{5, 200, 2}, {5, 200, 0}, {5, 100, 9}, {6, 300, 0}}
	for i := 1; i < len(runs); i++ {
		if a, b := AppendRunKey(nil, runs[i-1]), AppendRunKey(nil, runs[i]); bytes.Compare(a, b) >= 0 {
			t.Errorf("%v sorts after %v: %s %s", runs[i-1], runs[i], hex.EncodeToString(a), hex.EncodeToString(b))
		}
	}
}

func TestPrefixEnd(t *testing.T) {
	for _, c := range []struct{ in, want string }{{"\x01", "\x02"}, {"a\xff", "b"}, {"\xff\xff", ""}} {
		if got := string(PrefixEnd([]byte(c.in))); got != c.want {
			t.Errorf("PrefixEnd(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
