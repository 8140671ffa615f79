package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestEnvironment: a command has what cron gives it, what its rule adds, its input and its directory, and nothing of the
// worker's own.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_THE_WORKER", "x")
	const command = "env; pwd; cat"
	dir, allow := place(t, "")
	write(t, allow, fmt.Sprintf("commands:\n- {command: %q, user: %q, stdin: \"in\\n\", directory: %q, env: {PATH: /bin:/usr/bin, MAILTO: root}}", command, ownUser(), dir))
	b := startWorker(t, allow, nil)
	b.put("job", command, func(j *client.Job) {
		j.Payload = []byte(`{"command": "env; pwd; cat", "stdin": "in\n", "user": "` + ownUser() + `", "env": {"MAILTO": "root", "PATH": "/bin:/usr/bin"}}`)
	})
	got := b.run("job", "succeeded").Result
	for _, want := range []string{"LOGNAME=" + ownUser(), "USER=" + ownUser(), "PATH=/bin:/usr/bin", "SHELL=/bin/sh", "HOME=", "MAILTO=root", "CARILLON_JOB=" + b.name + "/job", dir, "\nin"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "SECRET_OF_THE_WORKER") {
		t.Error("the environment of the worker is passed on")
	}
}

// TestUsers: a worker of root runs commands as their users, with their groups alone.
func TestUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	const command = `id -un; id -Gn; echo $HOME; pwd`
	_, allow := place(t, "commands: [{command: '"+command+"', user: nobody}, {command: id, user: no-such-user}]")
	b := startWorker(t, allow, nil)
	b.put("job", command, nil)
	got := strings.Fields(b.run("job", "succeeded").Result)
	if len(got) < 3 || got[0] != "nobody" || strings.Contains(strings.Join(got, " "), "root") {
		t.Errorf("it runs as %q", got)
	}
	b.put("nobody", "id", nil)
	if run := b.run("nobody", "dead"); !strings.Contains(run.Error, "no-such-user") {
		t.Errorf("an unknown user: %s", run.Error)
	}
}

// TestNotStarted: a command that cannot be started says what is missing, and not that it is the shell.
func TestNotStarted(t *testing.T) {
	dir, allow := place(t, "")
	file := filepath.Join(dir, "file")
	write(t, file, "")
	missing := filepath.Join(dir, "missing")
	rules := "commands:\n"
	for command, settings := range map[string]string{"gone": "directory: " + missing, "file": "directory: " + file, "shell": "directory: /, shell: " + missing} {
		rules += fmt.Sprintf("- {command: %s, user: %q, %s}\n", command, ownUser(), settings)
	}
	private := filepath.Join(dir, "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	rules += fmt.Sprintf("- {command: private, user: nobody, directory: %s}\n", private)
	write(t, allow, rules)
	b := startWorker(t, allow, nil)
	if os.Geteuid() == 0 { // only root can take another user
		b.put("private", "private", nil)
		if run := b.run("private", "dead"); !strings.HasPrefix(run.Error, "start the command: nobody may not enter the directory "+private) {
			t.Error(run.Error)
		}
	}
	for command, want := range map[string]string{
		"gone":  "start the command: its directory: stat " + missing + ": no such file or directory",
		"file":  "start the command: its directory: " + file + " is no directory",
		"shell": "start the command: fork/exec " + missing + ": no such file or directory",
	} {
		b.put(command, command, nil)
		if run := b.run(command, "dead"); run.Error != want {
			t.Errorf("it says %q; want %q", run.Error, want)
		}
	}
}
