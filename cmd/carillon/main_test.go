package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// patience bounds how long a test waits for something that must happen.
const patience = testkit.Patience / 3

// TestMain lets the scripts run this test binary as the command itself, and as the part of the nats program that they use.
func TestMain(m *testing.M) {
	testscript.Main(sideBySide{m}, map[string]func(){"carillon": patientMain, "nats": natsMain})
}

// sideBySide runs the parallel tests four at a time at least: the scripts and the pages wait most of the time, for the disk and
// for what their servers do.
type sideBySide struct{ m *testing.M }

func (s sideBySide) Run() int { return testkit.RunParallel(s.m) }

// patientMain is main with time for what a shell completes on a busy machine.
func patientMain() {
	completeTime = patience
	main()
}

// manyCommands is why tests that start hundreds of commands are left to make test.
const manyCommands = "each command takes half a second to start; the tests of the packages do what they do"

// TestScripts drives the real command against real servers; see testdata/script.
func TestScripts(t *testing.T) {
	testkit.NotUnderRace(t, manyCommands)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			wd, err := os.Getwd()
			env.Setenv("FIXTURES", filepath.Join(wd, "..", "..", "crontab", "testdata"))
			env.Setenv("TZ", "UTC")
			// A program with the race detector sleeps for a second before it exits, and the scripts start 400.
			env.Setenv("GORACE", "atexit_sleep_ms=10")
			env.Values[serverKey] = &background{exited: make(chan error, 1)}
			env.Values[startedKey] = make(map[string]*server.Server)
			env.Values[workerKey] = &background{exited: make(chan error, 1)}
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"server":  cmdServer,
			"halt":    cmdHalt,
			"until":   cmdUntil,
			"corrupt": cmdCorrupt,
			"spoil":   cmdSpoil,
			"status":  cmdStatus,
			"hole":    cmdHole,
			"stream":  cmdStream,
			"zone":    cmdZone,

			"cluster":    cmdCluster(t),
			"endnode":    cmdEndNode,
			"worker":     cmdWorker,
			"endworker":  cmdEndWorker,
			"killworker": cmdKillWorker,
		},
	})
}

// cmdUntil runs a command repeatedly until its output matches: until REGEXP COMMAND ARGS…
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until regexp command args...")
	}
	want, err := regexp.Compile(args[0])
	ts.Check(err)
	var out []byte
	matches := func() bool {
		out, _ = scriptCommand(ts, args[1], args[2:]...).CombinedOutput()
		return want.Match(out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !testkit.Poll(ctx, matches) {
		ts.Fatalf("no match for %q after %s; the last output was:\n%s", args[0], patience, out)
	}
}

// cmdCorrupt flips a bit in the middle of the first segment of a log: corrupt DIR.
func cmdCorrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: corrupt waldir")
	}
	segments, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "[0-9]*"))
	ts.Check(err)
	if len(segments) == 0 {
		ts.Fatalf("no segment in %s", args[0])
	}
	b, err := os.ReadFile(segments[0])
	ts.Check(err)
	b[len(b)/4] ^= 0x10
	ts.Check(os.WriteFile(segments[0], b, 0o640))
}

// cmdSpoil flips a bit at a third of the length of each table of a store: spoil DIR.
func cmdSpoil(ts *testscript.TestScript, neg bool, args []string) {
	tables, err := filepath.Glob(filepath.Join(ts.MkAbs(strings.Join(args, " ")), "*.sst"))
	ts.Check(err)
	if neg || len(tables) == 0 {
		ts.Fatalf("usage: spoil storedir, which has tables")
	}
	for _, table := range tables {
		b, err := os.ReadFile(table)
		ts.Check(err)
		b[len(b)/3] ^= 0x10
		ts.Check(os.WriteFile(table, b, 0o640))
	}
}

// cmdStatus runs a command that fails and checks its exit status: status 2 COMMAND ARGS…
// Its output is left in the files status.out and status.err.
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status code command args...")
	}
	cmd := scriptCommand(ts, args[1], args[2:]...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	ts.Logf("[stdout]\n%s[stderr]\n%s", out.String(), errs.String())
	ts.Check(os.WriteFile(ts.MkAbs("status.out"), []byte(out.String()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("status.err"), []byte(errs.String()), 0o600))
	if got := cmd.ProcessState.String(); got != "exit status "+args[0] {
		ts.Fatalf("got %s, want exit status %s", got, args[0])
	}
}

// scriptCommand returns a command in the directory and with the environment of a script.
func scriptCommand(ts *testscript.TestScript, name string, args ...string) *exec.Cmd {
	var path string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if candidate := filepath.Join(dir, name); isExecutable(candidate) {
			path = candidate
			break
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, v := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "WORK", "TZ", "CARILLON_SERVER", "CARILLON_CONTEXT", "CARILLON_TENANT", "CARILLON_TOKEN", "CARILLON_TOKEN_FILE", "CARILLON_DATA", "CARILLON_CONFIG", "CARILLON_TZDATA", "ZONEINFO", "EDITOR"} {
		if value := ts.Getenv(v); value != "" {
			cmd.Env = append(cmd.Env, v+"="+value)
		}
	}
	return cmd
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
