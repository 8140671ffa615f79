// Package deploy has what it takes to run Carillon elsewhere: units, manifests, alerts, a dashboard. It is
// files, and the tests that hold them to the program that they are for.
package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// stopTimeout is the default of --stop-timeout, and afterStop what a stop takes besides: the handover and a
// checkpoint.
const (
	stopTimeout = 20 * time.Second
	afterStop   = 30 * time.Second
)

// read returns a file of the repository.
func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// parse reads the documents of a YAML file. A key that is there twice is an error.
func parse[T any](t *testing.T, path ...string) (all []T) {
	t.Helper()
	for text := range strings.SplitSeq(read(t, path...), "\n---\n") {
		var v T
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", filepath.Join(path...), err)
		}
		all = append(all, v)
	}
	return all
}

// TestSettingsExist: each variable that a file here sets, or tells of, is one of the program.
func TestSettingsExist(t *testing.T) {
	known := map[string]bool{"CARILLON_VERSION": true} // of compose alone: which image
	sources, err := filepath.Glob("../cmd/carillon/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range sources {
		for _, m := range regexp.MustCompile(`env:"(CARILLON_[A-Z_]+)"`).FindAllStringSubmatch(read(t, path[3:]), -1) {
			known[m[1]] = true
		}
	}
	files := []string{"../Dockerfile"}
	for _, dir := range []string{"systemd", "compose", "kubernetes"} {
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for _, path := range files {
		for _, name := range regexp.MustCompile(`CARILLON_[A-Z_]+`).FindAllString(read(t, "deploy", path), -1) {
			if seen++; !known[name] {
				t.Errorf("%s: %s is no setting", path, name)
			}
		}
	}
	if len(known) < 30 || seen < 30 {
		t.Fatalf("%d settings known, %d seen; the search is broken", len(known), seen)
	}
}

// TestWorkerUnit reads the unit of the worker: a stop has the time that draining and ending commands take, and a crash leaves
// no command.
func TestWorkerUnit(t *testing.T) {
	unit := read(t, "deploy", "systemd", "carillon-worker.service")
	for _, want := range []string{
		"\nExecStart=/usr/local/bin/carillon worker\n", "\nEnvironmentFile=-/etc/carillon/worker.env\n", "\nKillMode=mixed\n", "\nRestart=on-failure\n", "\nStateDirectory=carillon-worker\n",
		"\nEnvironment=CARILLON_WORKER_STATE=/var/lib/carillon-worker\n", "\nTimeoutStopSec=120\n", "\nStateDirectoryMode=0700\n",
	} {
		if !strings.Contains(unit, want) {
			t.Errorf("no %q", want)
		}
	}
	flags := read(t, "cmd", "carillon", "worker.go")
	if !regexp.MustCompile(`Grace +span +.*default:"10s"`).MatchString(flags) || !regexp.MustCompile(`DrainTimeout +span +.*default:"1m"`).MatchString(flags) {
		t.Error("the defaults of --grace and --drain-timeout are no longer 10s and 1m; look at TimeoutStopSec, which must exceed their sum and 15s")
	}
}

// TestDefaultStopTimeout: what the grace periods are measured by is what the program does.
func TestDefaultStopTimeout(t *testing.T) {
	if !regexp.MustCompile(`StopTimeout +span +.*default:"20s"`).MatchString(read(t, "cmd", "carillon", "serve.go")) {
		t.Error("the default of --stop-timeout is no longer 20s; look at the grace periods of all files here")
	}
}

// TestDockerfile checks by text what the builder cannot: no root, no shell, no image below.
func TestDockerfile(t *testing.T) {
	text := read(t, "Dockerfile")
	from := regexp.MustCompile(`(?m)^FROM (.*)$`).FindAllStringSubmatch(text, -1)
	if len(from) != 1 || from[0][1] != "scratch" || strings.Contains(text, "syntax=") {
		t.Errorf("the image is built from %v; want scratch alone, because nothing else is pinned", from)
	}
	for _, want := range []string{
		"USER 65532:65532", `VOLUME ["/data"]`, "EXPOSE 4222 7272 6222", `ENTRYPOINT ["/usr/bin/carillon"]`, `CMD ["serve"]`,
		`CMD ["/usr/bin/carillon", "ready"`, "CARILLON_DATA=/data", "CARILLON_LISTEN=0.0.0.0:4222", "CARILLON_HTTP_LISTEN=0.0.0.0:7272",
		"/etc/ssl/certs/ca-certificates.crt", "--chown=65532:65532", "LICENSES.txt",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the image lacks %s", want)
		}
	}
	if regexp.MustCompile(`(?m)^(RUN|ADD) `).MatchString(text) {
		t.Error("the image runs something: it has nothing to run it with")
	}
}

// TestUnit reads the unit of systemd: it is hardened, and a stop has the time that it needs.
func TestUnit(t *testing.T) {
	settings := map[string]string{}
	for line := range strings.Lines(read(t, "deploy", "systemd", "carillon.service")) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || line[0] == '[' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if _, twice := settings[key]; !ok || twice && key != "SystemCallFilter" {
			t.Errorf("%q is no setting, or there twice", line)
		}
		settings[key] = value
	}
	for key, want := range map[string]string{
		"Type": "exec", "User": "carillon", "StateDirectory": "carillon", "NoNewPrivileges": "yes", "ProtectSystem": "strict",
		"Restart": "on-failure", "LimitNOFILE": "65536", "CapabilityBoundingSet": "", "EnvironmentFile": "-/etc/carillon/carillon.env",
		"ExecStart": "/usr/local/bin/carillon serve", "StateDirectoryMode": "0700", "UMask": "0077",
	} {
		if got, ok := settings[key]; !ok || got != want {
			t.Errorf("%s=%s; want %s", key, got, want)
		}
	}
	for _, key := range []string{"RestartPreventExitStatus", "SuccessExitStatus"} {
		if status, ok := settings[key]; ok { // the Go runtime ends a process with status 2 too
			t.Errorf("%s=%s: the unit does not restart a server that failed so", key, status)
		}
	}
	if stop, err := time.ParseDuration(settings["TimeoutStopSec"] + "s"); err != nil || stop < stopTimeout+afterStop {
		t.Errorf("a stop has %s, %v; want at least %s", stop, err, stopTimeout+afterStop)
	}
	if !slices.Contains(strings.Fields(read(t, "deploy", "systemd", "carillon.sysusers")), settings["User"]) {
		t.Errorf("nobody makes the user %s", settings["User"])
	}
	if !strings.Contains(read(t, "deploy", "systemd", "carillon.env"), "\nCARILLON_DATA=/var/lib/"+settings["StateDirectory"]+"\n") {
		t.Error("the data are not in the state directory")
	}
}
