package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bench/kit"
)

// readyMax is how long each process may take to be ready.
const readyMax = 30 * time.Second

// drain is how long after the window the commands that began in it may still run: the longest takes 85 s.
const drain = 100 * time.Second

// rig is the two sides and their files. One goroutine uses it.
type rig struct {
	opts  options
	dir   string
	table []entry
	nats  string // of the server

	server, worker, cron *kit.Process
}

// sight is what a run has left.
type sight struct {
	table      []entry
	from, to   time.Time
	cron, ours []note
	runs       []recordedRun
}

// watch runs both sides for the window and reads what they left.
func watch(ctx context.Context, opts options, dir string, progress io.Writer) (*sight, error) {
	r := &rig{opts: opts, dir: dir, table: drawTable(opts.seed, opts.jobs)}
	defer r.close()
	for _, step := range []func() error{r.lay, r.startServer, r.startWorker, r.importTable, r.startCron} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	// The first minute is not compared: one side may have seen its beginning alone.
	from := time.Now().Truncate(time.Minute).Add(2 * time.Minute)
	s := &sight{table: r.table, from: from, to: from.Add(opts.window)}
	fmt.Fprintf(progress, "cron: both run %d lines; compared from %s to %s\n", len(r.table), s.from.Format(time.TimeOnly), s.to.Format(time.TimeOnly))
	if err := r.await(ctx, s.to.Add(drain)); err != nil {
		return nil, err
	}
	return s, r.read(ctx, s)
}

// lay makes the directories and the table. Each user may write notes; all else is root's.
func (r *rig) lay() error {
	bin := filepath.Join(r.dir, "bin")
	program, err := os.Executable()
	if err != nil {
		return err
	}
	code, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	err = os.Chmod(r.dir, 0o755)
	for _, made := range []string{bin, r.notesDir(), r.notesDir() + ".cron"} {
		err = errors.Join(err, os.Mkdir(made, 0o755))
	}
	return errors.Join(err,
		os.Chmod(r.notesDir(), 0o777|fs.ModeSticky), os.Chmod(r.notesDir()+".cron", 0o777|fs.ModeSticky),
		os.WriteFile(filepath.Join(bin, actName), code, 0o755),
		os.WriteFile(r.path("cage.sh"), []byte(cageScript), 0o644),
		os.WriteFile(r.path("table"), []byte(text(r.table, bin)), 0o644),
		os.WriteFile(r.path("allow.yaml"), fmt.Appendf(nil, "crontabs:\n  - file: %s\n    system: true\n", r.path("table")), 0o600))
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) notesDir() string { return r.path("notes") }

func (r *rig) startServer() (err error) {
	listen, err := kit.FreeAddress()
	if err != nil {
		return err
	}
	r.nats = "nats://" + listen
	r.server, err = kit.Launch{
		Name: "the server", Program: r.opts.binary, Log: r.path("server.log"), ReadyMax: readyMax,
		Args: []string{"serve", "--data", r.path("data"), "--listen", listen, "--http-listen", "127.0.0.1:0"},
	}.Spawn()
	if err != nil {
		return err
	}
	return r.server.AwaitReady()
}

// startWorker starts the worker as the documents say, without further flags. It is ready when its log says so.
func (r *rig) startWorker() (err error) {
	r.worker, err = kit.Launch{
		Name: "the worker", Program: r.opts.binary, Log: r.path("worker.log"),
		Args: []string{"worker", "--server", r.nats, "--allow", r.path("allow.yaml"), "--state", r.path("state"), "--host", "bench"},
	}.Spawn()
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(readyMax); ; time.Sleep(50 * time.Millisecond) {
		log, _ := os.ReadFile(r.worker.Log)
		switch {
		case bytes.Contains(log, []byte("the worker takes runs")):
			return nil
		case r.worker.IsGone():
			return r.worker.Ended()
		case time.Now().After(deadline):
			return fmt.Errorf("the worker takes no runs after %s; its log:\n%s", readyMax, log)
		}
	}
}

func (r *rig) importTable() error {
	return r.carillon(nil, "import", "--host", "bench", "--timezone", localZone(), "--system", "--crontab", r.path("table"))
}

// localZone returns the machine's zone as the import wants it, which cron uses.
func localZone() string {
	if name, err := os.Readlink("/etc/localtime"); err == nil {
		if _, zone, ok := strings.Cut(name, "zoneinfo/"); ok {
			return zone
		}
	}
	return "UTC"
}

// startCron starts cron, and waits until it has read the table: its first commands come with the next minute.
func (r *rig) startCron() (err error) {
	r.cron, err = kit.Launch{
		Name: "cron", Program: "/bin/sh", Args: []string{r.path("cage.sh"), r.dir}, Log: r.path("cron.log"), Start: encage,
	}.Spawn()
	return err
}

// carillon runs a command of the product and reads its JSON into v, unless that is nil.
func (r *rig) carillon(v any, args ...string) error {
	cmd := exec.Command(r.opts.binary, append(args, "--server", r.nats)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("carillon %s: %w\n%s", args[0], err, stderr.Bytes())
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(out, v)
}

// await waits until an instant. It fails if one of the processes ends before.
func (r *rig) await(ctx context.Context, until time.Time) error {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.server.Exited():
		return r.server.Ended()
	case <-r.worker.Exited():
		return r.worker.Ended()
	case <-r.cron.Exited():
		return r.cron.Ended()
	}
}

// close ends what runs. Commands of Carillon's side end with the worker.
func (r *rig) close() {
	if r.cron != nil {
		r.cron.Kill()
	}
	if r.worker != nil && !r.worker.IsGone() && r.worker.Stop() != nil {
		r.worker.Kill()
	}
	if r.server != nil {
		r.server.Kill()
	}
}
