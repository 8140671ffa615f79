package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"

	"github.com/carillon-io/carillon/terminal/terminaltest"
	"github.com/carillon-io/carillon/testkit"
)

// TestLoginAtTerminal types a token: it is not shown, and reaches the context.
func TestLoginAtTerminal(t *testing.T) {
	url := startNATS(t, natsserver.Options{Authorization: "typed-token"})
	startServer(t, strings.Replace(url, "://", "://typed-token@", 1))
	useContexts(t, nil)
	term := terminaltest.Open(t, 120, 25)
	var out bytes.Buffer
	done := make(chan int, 1)
	go func() { done <- run([]string{"login", "here", "--server", url}, term.File, &out, term.File) }()
	term.Until(t, "Token for "+url+": ")
	testkit.Until(t, "the terminal hides what is typed", func() bool {
		settings, err := unix.IoctlGetTermios(int(term.File.Fd()), unix.TCGETS)
		return err == nil && settings.Lflag&unix.ECHO == 0
	})
	term.Type(t, "typed-token\n")
	if status := <-done; status != exitDone || !strings.Contains(out.String(), "saved as the context here") {
		t.Errorf("status %d, %s%s", status, out.String(), term.Text())
	}
	if strings.Contains(term.Text(), "typed") {
		t.Errorf("the terminal shows the token: %q", term.Text())
	}
	dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "carillon", "context")
	text, err := os.ReadFile(filepath.Join(dir, "here.json"))
	if err != nil || !strings.Contains(string(text), `"token": "typed-token"`) {
		t.Errorf("%s, %v", text, err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 {
		t.Errorf("besides the context there are %v", files)
	}
	if status, out, errs := command("job", "list"); status != exitDone {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
}

// TestLoginWithFiles logs in with an nkey and with a relative path: the context works from another directory.
func TestLoginWithFiles(t *testing.T) {
	url := startNATS(t, natsserver.Options{
		Users: []*natsserver.User{{Username: "server", Password: "x"}}, Nkeys: []*natsserver.NkeyUser{{Nkey: testKey}},
	})
	startServer(t, strings.Replace(url, "://", "://server:x@", 1))
	useContexts(t, map[string]string{"both": `{"url": "` + url + `"}`})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "user.nk"), []byte(testSeed), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if status, out, errs := command("login", "both", "--server", url, "--nkey", "user.nk", "--tenant", "billing"); status != exitDone {
		t.Fatalf("status %d, %s%s", status, out, errs)
	}
	t.Chdir(t.TempDir())
	// A context of the nats command has the same name; that of the login is meant.
	for _, args := range [][]string{{"job", "list"}, {"job", "list", "--context", "both"}} {
		if status, out, errs := command(args...); status != exitDone {
			t.Errorf("%v: status %d, %s%s", args, status, out, errs)
		}
	}
	if status, out, _ := command("context", "show", "both"); status != exitDone || !strings.Contains(out, filepath.Join(dir, "user.nk")) {
		t.Errorf("status %d, %s", status, out)
	}
	if names := fmt.Sprint(contextNames()); names != "[{both }]" {
		t.Errorf("completion offers %s", names)
	}
}
