package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-io/carillon/bus/bustest"
)

// docsAll makes a program that is missing on this machine a failure.
var docsAll = flag.Bool("docs.all", false, "fail if a program that documents use, such as jq, is not installed")

// docPageTime bounds the commands of a page. The slowest page takes some ten seconds.
const docPageTime = 2 * time.Minute

// TestDocCommands runs the commands of each page in the order of the page, in a directory of its own, against a server of
// its own. docPages says what a page needs, and docs_reasons_test.go which commands are not run, and why.
func TestDocCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("the programs are run without the race detector")
	}
	for page, text := range docPagesAll(t) {
		blocks, _ := docBlocksOf(page, text)
		script := docScript(page, blocks)
		if script == "" {
			continue
		}
		t.Run(strings.ReplaceAll(strings.TrimSuffix(page, ".md"), "/", "-"), func(t *testing.T) {
			t.Parallel()
			for _, program := range []string{"bash", "curl", "jq", "openssl"} {
				if _, err := exec.LookPath(program); err != nil && *docsAll {
					t.Fatal(err)
				} else if err != nil {
					t.Skip(err)
				}
			}
			w := newDocWorld(t)
			w.run(t, docPages[page], script)
			for _, block := range blocks {
				w.compare(t, block)
			}
		})
	}
}

// docScript returns the commands of a page that are run, with a line before each block that says where it is; "" if none is.
func docScript(page string, blocks []docBlock) string {
	var b strings.Builder
	for _, block := range blocks {
		if docBlocksNotRun[page][block.head()] != "" {
			continue
		}
		fmt.Fprintf(&b, "at %s:%d\n", page, block.line)
		for line := range strings.Lines(docCommands(block.text)) {
			switch command := cutRemark(line); {
			case docLinesNotRun[page][command] != "":
			case docLinesThatFail[page][command] != "":
				fmt.Fprintf(&b, "if %s\nthen echo 'it succeeds: '%q >&2; exit 1; fi\n", strings.TrimPrefix(command, "$ "), command)
			default:
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// docCommands returns the commands of a block: all of it, or the lines behind a prompt if it has one.
func docCommands(text string) string {
	if !strings.HasPrefix(text, "$ ") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "$ ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// docWorld is where the commands of a page are run: a directory, with ports of its own in place of those of the page and
// with directories in place of those of the system.
type docWorld struct {
	dir   string
	ports map[string]string
}

// newDocWorld returns an empty world, which is removed when the test ends.
func newDocWorld(t *testing.T) *docWorld {
	w := &docWorld{t.TempDir(), make(map[string]string)}
	for _, dir := range []string{"work", "home", "root/etc/carillon", "root/etc/cron.d", "root/var/lib", "root/backup", "root/usr/local/share/man/man1"} {
		if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, "home/.curlrc", "fail-with-body\nsilent\nshow-error\n")
	return w
}

// write writes a file of the world.
func (w *docWorld) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// docPrelude begins each script. A failed command ends it, and what runs in the background ends with it; at says where it was. A server goes on in the background from
// its ready line on, in place of the one that the page has started before, as with a reader who ends that one; nodes of a
// cluster are ready together. A worker goes on in the background too.
const docPrelude = `set -Eeuo pipefail
trap 'kill -9 $(jobs -p) 2>/dev/null; wait' EXIT
trap '{ echo "failed at $AT"; cat "$OUT"; } >&2' ERR
at() { AT=$1 OUT=$WORLD/out-${1//\//-}; exec >"$OUT"; }
eventually() { until eval "$1" >/dev/null 2>&1; do sleep 0.05; done; }
make() { grep -q "^$1:" "$SOURCES/Makefile"; }
server() {
	rm -f "$WORLD/ready"
	mkfifo "$WORLD/ready"
	"$CARILLON" serve "$@" >"$WORLD/ready" &
	read -r READY <"$WORLD/ready" || return
	echo "$READY"
}
stop() {
	if [ -n "${SERVER-}" ]; then kill "$SERVER"; wait "$SERVER"; fi
	SERVER=
}
carillon() {
	case "$1 $*" in
	"serve "*--cluster-name*) exec "$CARILLON" "$@" ;; # in the process of the & behind it
	"serve "*)
		stop
		shift
		server "$@" || return
		SERVER=$!
		;;
	"worker "*)
		"$CARILLON" "$@" 2>"$WORLD/worker.log" &
		eventually "! kill -0 $! || grep 'takes runs' '$WORLD/worker.log'"
		kill -0 $! || { cat "$WORLD/worker.log"; return 1; }
		;;
	*) "$CARILLON" "$@" ;;
	esac
}
at setup
`

// docPort is an address of a page.
var docPort = regexp.MustCompile(`127\.0\.0\.1:([0-9]{4,5})\b`)

// docPath is a directory of the system.
var docPath = regexp.MustCompile(`(^|[\s='"(>])/(etc|var|backup|usr)/`)

// run runs the commands of a page and fails with what they have printed.
func (w *docWorld) run(t *testing.T, page docPage, script string) {
	script = strings.NewReplacer("./bin/carillon", "carillon", "./carillon", "carillon").Replace(script)
	script = docPath.ReplaceAllString(strings.NewReplacer(page.replace...).Replace(script), "${1}"+w.dir+"/root/${2}/")
	begin := page.setup
	if !page.bare {
		begin = "carillon serve\n" + begin
	}
	w.write(t, "page.sh", docPort.ReplaceAllStringFunc(docPrelude+begin+script, func(address string) string { return w.free(t, address) }))
	ctx, cancel := context.WithTimeout(t.Context(), docPageTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(w.dir, "page.sh"))
	cmd.Dir, cmd.Env = filepath.Join(w.dir, "work"), w.environment(t)
	// All that the page starts is in one group, which ends with the test.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(filepath.Join(w.dir, "page.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := -cmd.Process.Pid
	cmd.Cancel = func() error { return syscall.Kill(group, syscall.SIGKILL) }
	err = cmd.Wait()
	if killed := syscall.Kill(group, syscall.SIGKILL); killed != nil && !errors.Is(killed, syscall.ESRCH) {
		t.Error(killed)
	}
	if err != nil {
		out, _ := os.ReadFile(log.Name())
		t.Errorf("%v:\n%s", err, out)
	}
}

// docVarying matches what differs between two outputs of a command: ids of runs, and numbers.
var docVarying = regexp.MustCompile(`\b[0-9a-z]{13}-[0-9]+(-[0-9]+)?|[0-9]+(\.[0-9]+)?`)

// compare checks that the output that a page shows for a block is that of its commands, apart from ids, numbers and blanks.
func (w *docWorld) compare(t *testing.T, block docBlock) {
	if block.output == "" || docBlocksNotRun[block.page][block.head()] != "" {
		return
	}
	same := func(text string) string {
		return strings.Join(strings.Fields(docVarying.ReplaceAllString(text, "0")), " ")
	}
	at := fmt.Sprintf("%s:%d", block.page, block.line)
	out, err := os.ReadFile(filepath.Join(w.dir, "out-"+strings.ReplaceAll(at, "/", "-")))
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(block.output) {
		if !strings.Contains(same(string(out)), same(line)) {
			t.Errorf("%s: the page shows\n%sand the commands print\n%s", at, line, out)
		}
	}
}

// free returns the address that stands for one of a page: the same port of the page has the same one.
func (w *docWorld) free(t *testing.T, address string) string {
	if w.ports[address] == "" {
		w.ports[address] = bustest.FreeAddrs(t, 1)[0]
	}
	return w.ports[address]
}

// environment returns the variables of the commands: those of a shell of a user who has set nothing for Carillon, apart
// from the addresses that are the defaults on a machine of one's own.
func (w *docWorld) environment(t *testing.T) []string {
	carillon, err := exec.LookPath("carillon")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	nats, web := w.free(t, "127.0.0.1:4222"), w.free(t, "127.0.0.1:7272")
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home"), "TMPDIR=" + w.dir, "TZ=UTC",
		"WORLD=" + w.dir, "ROOT=" + filepath.Join(w.dir, "root"), "SOURCES=" + sources, "CARILLON=" + carillon, "GORACE=atexit_sleep_ms=10",
		"CARILLON_LISTEN=" + nats, "CARILLON_HTTP_LISTEN=" + web, "CARILLON_SERVER=nats://" + nats, "NATS_URL=nats://" + nats,
	}
}
