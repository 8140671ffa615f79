package divide_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/divide"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/testkit"
)

const shards = 4

// define returns a job; change sets what is special about it.
func define(tenant, name, schedule string, change func(*job.Definition)) *job.Definition {
	d := &job.Definition{
		Tenant: tenant, Name: name, Schedule: schedule, AttemptTimeout: time.Minute,
		Retry: job.Retry{MaxAttempts: 1}, Target: job.Target{Kind: job.TargetNATS, Subject: "x"},
	}
	if change != nil {
		change(d)
	}
	return d
}

// definitions returns jobs of each kind.
func definitions(now time.Time, from, n int) (list []*job.Definition) {
	soon := now.Add(10 * time.Minute).Format(time.RFC3339)
	later := began.Add(3 * time.Hour).Format(time.RFC3339)
	for i := from; i < from+n; i++ {
		tenant := tenants[i%2]
		list = append(list,
			define(tenant, fmt.Sprintf("plain-%d", i), fmt.Sprintf("@every %dm", 5+i%11), func(d *job.Definition) {
				d.Labels = []job.Pair{{Key: "team", Value: fmt.Sprint(i % 3)}}
			}),
			define(tenant, fmt.Sprintf("jitter-%d", i), "*/20 * * * *", func(d *job.Definition) { d.Jitter = time.Minute }),
			define(tenant, fmt.Sprintf("dies-%d", i), "*/15 * * * *", func(d *job.Definition) { d.PauseOnFailure = uint32(i % 4) }),
			define(tenant, fmt.Sprintf("once-%d", i), "@at "+soon, nil),
			define(tenant, fmt.Sprintf("later-%d", i), "@at "+later, nil),
			define(tenant, fmt.Sprintf("zone-%d", i), "30 * * * *", func(d *job.Definition) { d.Timezone = "Europe/Berlin" }),
			define(tenant, fmt.Sprintf("except-%d", i), "0 * * * *", func(d *job.Definition) { d.Exclude = []string{"@calendar holidays"} }),
		)
		if i%5 == 0 {
			list = append(list,
				define(tenant, fmt.Sprintf("hangs-%d", i), "*/30 * * * *", func(d *job.Definition) { d.AttemptTimeout = 2 * time.Hour }),
				define(tenant, fmt.Sprintf("worker-%d", i), "*/30 * * * *", func(d *job.Definition) {
					d.Completion, d.AttemptTimeout = job.CompletionReported, 2*time.Hour
				}),
				define(tenant, fmt.Sprintf("owes-%d", i), "* * * * *", func(d *job.Definition) {
					d.Missed, d.MaxCatchupRuns, d.CatchupWindow, d.Overlap = job.MissedBackfill, 500, 24*time.Hour, job.OverlapAllow
				}),
			)
		}
	}
	return list
}

// act does what callers do with the jobs.
func act(w *world, from, n int) {
	for i := from; i < from+n; i++ {
		tenant, name := tenants[i%2], fmt.Sprintf("plain-%d", i)
		switch i % 8 {
		case 0:
			w.ask(func(ctx context.Context) error {
				_, err := w.engine.Pause(ctx, tenant, name, "for a while", nil)
				return err
			})
		case 1:
			w.ask(func(ctx context.Context) error {
				_, err := w.engine.Trigger(ctx, scheduler.TriggerRequest{Tenant: tenant, Job: name, Payload: []byte("own"), HasPayload: true, Key: "k-" + name})
				return err
			})
		case 2:
			w.ask(func(ctx context.Context) error { _, err := w.engine.Delete(ctx, tenant, name, nil); return err })
		case 3:
			w.ask(func(ctx context.Context) error {
				_, err := w.engine.Trigger(ctx, scheduler.TriggerRequest{Tenant: tenant, Job: fmt.Sprintf("dies-%d", i), Payload: []byte("own"), HasPayload: true})
				return err
			})
		}
	}
	w.settle()
}

// made is a directory of a node alone with jobs of each kind, of which the older ones have ids without slots, and when it
// was closed.
func made(t *testing.T, old, young int) (dir string, now time.Time) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "alone")
	d, err := datadir.OpenDirectory(datadir.Options{Dir: dir, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, d, 0, 1, began, job.RowsVersionOfSlots-1)
	for _, tenant := range tenants {
		w.ask(func(ctx context.Context) error {
			_, _, err := w.engine.PutCalendar(ctx, &job.Calendar{Tenant: tenant, Name: "holidays", Exclude: []string{"2026-12-24/2026-12-26"}})
			return err
		})
	}
	w.put(definitions(began, 0, old)...)
	w.advance(40 * time.Minute)
	act(w, 0, old)
	now = w.now
	w.close()

	now = now.Add(20 * time.Minute) // missed
	w = open(t, d, 0, 1, now, 0)
	w.put(definitions(now, old, young)...)
	w.settle()
	act(w, old, young)
	w.advance(10 * time.Millisecond)
	now = w.now
	w.close()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, now
}

// opened opens the shards of a directory.
func opened(t *testing.T, dir string, shards int, now time.Time) (*datadir.Directory, []*world) {
	t.Helper()
	o := datadir.Options{Dir: dir, Logger: discard}
	if shards > 1 {
		o.ClusterName = "prod"
	}
	d, err := datadir.OpenDirectory(o)
	if err != nil {
		t.Fatal(err)
	}
	var worlds []*world
	for n := range shards {
		worlds = append(worlds, open(t, d, uint32(n), shards, now, 0))
	}
	return d, worlds
}

func closeAll(t *testing.T, d *datadir.Directory, worlds []*world) {
	t.Helper()
	for _, w := range worlds {
		w.close()
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// same compares two maps.
func same[V comparable](t *testing.T, what string, got, want map[string]V) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	wrong := 0
	for key := range want {
		if g, ok := got[key]; !ok || g != want[key] {
			if wrong++; wrong < 5 {
				t.Errorf("%s %s: %v, want %v", what, key, g, want[key])
			}
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			if wrong++; wrong < 5 {
				t.Errorf("%s %s is new: %v", what, key, got[key])
			}
		}
	}
	t.Errorf("%d of %d %s are wrong, there are %d", wrong, len(want), what, len(got))
}

// content returns the bytes of all files of a directory, but of the lock.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == datadir.LockName {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func options(from, to string) divide.Options {
	return divide.Options{From: from, Shards: shards, FoundOptions: datadir.FoundOptions{Dir: to, ClusterName: "prod", Node: "a", Logger: discard}}
}

// TestNothingIsLost: a node alone with jobs, runs, debts and lists of each kind is divided into four shards. Together they
// have what it had, with the same next ticks, and two hours later they have decided what it has.
func TestNothingIsLost(t *testing.T) {
	testkit.NotUnderRace(t, "one goroutine drives all engines; TestRefusedDivisions divides as well")
	t.Parallel()
	dir, now := made(t, 150, 150)
	before := content(t, dir)
	whole := testkit.CopyDir(t, dir)
	d, alone := opened(t, whole, 1, now)
	want := read(t, alone...)

	to := filepath.Join(t.TempDir(), "new")
	done, err := divide.Run(t.Context(), options(dir, to))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "files", content(t, dir), before)
	if len(want.jobs) < 2000 || done.Founded.Jobs != len(want.jobs) || done.Node != "a" || done.Renumbered == 0 {
		t.Errorf("%d jobs were divided, of %d: %+v", done.Founded.Jobs, len(want.jobs), done)
	}
	for kind := job.KindMeta; kind <= job.KindLast; kind++ {
		if kind != job.KindPayload && kind != job.KindOutbox && kind != job.KindDeleted && done.Before[kind] == 0 {
			t.Errorf("the directory had no row of kind %d, so nothing is known of those", kind)
		}
	}

	nd, worlds := opened(t, to, shards, now)
	got := read(t, worlds...)
	same(t, "jobs", got.jobs, want.jobs)
	same(t, "runs", got.runs, want.runs)
	same(t, "dead runs", got.dead, want.dead)
	same(t, "entries of the audit log", got.audit, want.audit)
	checkIDs(t, to, want.ids, got.ids)
	for n, w := range worlds {
		if done.Jobs[n] < len(want.jobs)/8 || int(w.engine.Status().Jobs) != done.Jobs[n] {
			t.Errorf("shard %d has %d jobs, and %d were divided", n, w.engine.Status().Jobs, done.Jobs[n])
		}
	}
	repeatKeys(worlds)

	for _, w := range append(worlds, alone...) {
		w.advance(150 * time.Minute)
	}
	want, got = read(t, alone...), read(t, worlds...)
	same(t, "jobs later", got.jobs, want.jobs)
	same(t, "runs later", got.runs, want.runs)
	same(t, "dead runs later", got.dead, want.dead)
	closeAll(t, d, alone)
	closeAll(t, nd, worlds)
}

// checkIDs checks that ids with slots stay, and that the table has the others.
func checkIDs(t *testing.T, dir string, before, after map[string]job.ID) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, datadir.IDsName))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil || strings.Join(lines[0], " ") != "old_id new_id tenant name" {
		t.Fatalf("%v, %v", lines[0], err)
	}
	moved := make(map[string][2]string)
	for _, l := range lines[1:] {
		if id, err := job.ParseID(l[1]); err != nil || id.Slot() != job.SlotOf(l[2], l[3]) {
			t.Errorf("%v: %v", l, err)
		}
		moved[l[2]+"/"+l[3]] = [2]string{l[0], l[1]}
	}
	kept, used := 0, make(map[job.ID]string)
	for key, id := range before {
		if pair, renumbered := moved[key]; renumbered {
			if pair != [2]string{id.String(), after[key].String()} {
				t.Errorf("%s: %s became %s, and the table has %v", key, id, after[key], pair)
			}
		} else if kept++; id != after[key] {
			t.Errorf("%s: %s became %s", key, id, after[key])
		}
		tenant, name, _ := strings.Cut(key, "/")
		if other := used[after[key]]; other != "" || after[key].Slot() != job.SlotOf(tenant, name) {
			t.Errorf("%s has the id %s, as %q", key, after[key], other)
		}
		used[after[key]] = key
	}
	if kept == 0 || len(moved) == 0 {
		t.Errorf("%d ids stayed, and %d changed", kept, len(moved))
	}
}

// repeatKeys repeats requests with an idempotency key: each leads to the run from before.
func repeatKeys(worlds []*world) {
	for i := 1; i < 300; i += 8 {
		tenant, name := tenants[i%2], fmt.Sprintf("plain-%d", i)
		w := worlds[job.ShardOf(job.SlotOf(tenant, name), len(worlds))]
		w.ask(func(ctx context.Context) error {
			v, err := w.engine.Trigger(ctx, scheduler.TriggerRequest{Tenant: tenant, Job: name, Key: "k-" + name})
			if err == nil && v.ID.At >= instant.Of(w.now) {
				err = fmt.Errorf("the request about %s was carried out again, as %s", name, v.ID)
			}
			return err
		})
	}
}

// TestRefusedDivisions change nothing, and leave no new directory.
func TestRefusedDivisions(t *testing.T) {
	t.Parallel()
	dir, _ := made(t, 1, 1)
	before := content(t, dir)
	to := filepath.Join(t.TempDir(), "new")
	refused := func(o divide.Options, is error, text string) {
		t.Helper()
		_, err := divide.Run(t.Context(), o)
		if err == nil || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v; want %q", err, text)
		}
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %q there is %s: %v", text, to, err)
		}
	}
	for _, n := range []int{-1, 0, 3, 512} {
		o := options(dir, to)
		o.Shards = n
		refused(o, nil, "want a power of two")
	}
	o := options(dir, to)
	o.Shards = 1
	refused(o, nil, "one shard")
	refused(options(filepath.Join(t.TempDir(), "none"), to), fs.ErrNotExist, "")
	refused(options(dir, filepath.Join(dir, "new")), nil, "in each other")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	refused(options(dir, filepath.Join(link, "new")), nil, "in each other")
	refused(options(link, filepath.Join(dir, "new")), nil, "in each other")
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(options(dir, full), datadir.ErrDivideNotEmpty, "letter.txt")

	d, err := datadir.OpenDirectory(datadir.Options{Dir: dir, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	refused(options(dir, to), datadir.ErrInUse, "")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}

	damaged := testkit.CopyDir(t, dir)
	tables, err := filepath.Glob(filepath.Join(datadir.ShardDir(damaged, 0), datadir.StoreName, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	if err := os.Remove(tables[0]); err != nil {
		t.Fatal(err)
	}
	refused(options(damaged, to), nil, filepath.Base(tables[0]))
	same(t, "files", content(t, dir), before)

	if _, err := divide.Run(t.Context(), options(dir, to)); err != nil {
		t.Fatal(err)
	}
	refusedMore(t, dir, to)
}

// refusedMore: a directory that is divided is not divided again, and one that an interrupted run left is not started.
func refusedMore(t *testing.T, dir, to string) {
	t.Helper()
	if _, err := divide.Run(t.Context(), options(to, filepath.Join(t.TempDir(), "more"))); !errors.Is(err, datadir.ErrDivided) {
		t.Errorf("divided again: %v", err)
	}
	place := filepath.Join(t.TempDir(), "cut")
	d, err := datadir.Divide(options(dir, place))
	if err != nil {
		t.Fatal(err)
	}
	cut := testkit.CopyDir(t, place) // what a crash leaves
	if err := d.Close(errors.New("enough")); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("closed: %v", err)
	}
	if _, err := os.Stat(place); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a failure has left %s: %v", place, err)
	}
	for _, cluster := range []string{"", "prod"} {
		if _, err := datadir.OpenDirectory(datadir.Options{Dir: cut, ClusterName: cluster, Logger: discard}); !errors.Is(err, datadir.ErrDividing) || !strings.Contains(err.Error(), "DIVIDING") {
			t.Errorf("an unfinished directory is opened: %v", err)
		}
	}
	if done, err := divide.Run(t.Context(), options(dir, cut)); err != nil || done.Founded.Jobs == 0 {
		t.Errorf("the second attempt: %+v, %v", done, err)
	}
}
