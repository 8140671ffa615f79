package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestRulesFaults: each fault of an allow file is refused with its line and with what would be right.
func TestRulesFaults(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "open"), "* * * * * true\n")
	if err := os.Chmod(filepath.Join(dir, "open"), 0o666); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                            "line 1: the file is empty",
		"# nothing\n":                 "line 1: the file is empty",
		"a: [":                        "line 1: ",
		"[]":                          "line 1: the file is a list; want a mapping",
		"\ncommand: x":                `line 2: the key "command" of the file is unknown; want commands, crontabs`,
		"commands: x":                 `line 1: commands is "x"; want a list`,
		"commands:\n- x":              `line 2: a command is "x"; want a mapping`,
		"commands:\n- {}":             "line 2: the command is missing",
		"commands:\n- {command: }":    "line 2: command is empty; want a text",
		"commands:\n- {command: [x]}": "line 2: command is a list; want a text",
		"commands:\n- {command: \"a\\0\", user: root}":       "line 2: command has a zero byte",
		"commands:\n- command: x\n  user: y\n  usr: z":       `line 4: the key "usr" of a command is unknown; want user,`,
		"commands:\n- command: x\n  command: y":              "line 3: ",
		"commands:\n- {command: x, user: y, directory: tmp}": `line 2: directory is "tmp"; want an absolute path`,
		"commands:\n- {command: x, user: y, shell: bash}":    `line 2: shell is "bash"; want an absolute path`,
		"commands:\n- {command: x, user: y, timeout: 5}":     `line 2: timeout is "5"; want a time such as 90s`,
		"commands:\n- {command: x, user: y, timeout: 31d}":   "at most 30d",
		"commands:\n- {command: x, user: y, timeout: -1s}":   "line 2: timeout is",
		"commands:\n- {command: x, user: y, success: [256]}": `line 2: an exit status of success is "256"; want a number from 0 to 255`,
		"commands:\n- {command: x, user: y, env: [a]}":       "line 2: env is a list",
		"commands:\n- {command: x, user: y, env: {a b: c}}":  `line 2: "a b" is no name of a variable`,
		"commands:\n- {command: x, user: y, env: {a: {}}}":   "line 2: the variable a is a mapping",
		"crontabs:\n- {}":                                                    "line 2: the file is missing",
		"crontabs:\n- {file: x}":                                             `line 2: file is "x"; want an absolute path`,
		"crontabs:\n- {file: /etc/crontab, user: x}":                         "line 2: the lines of /etc/crontab name their users",
		"crontabs:\n- {file: /no/such/file, user: x, system: false}":         "line 2: open /no/such/file",
		"crontabs:\n- {file: '/tmp/[', user: x}":                             "line 2: file is \"/tmp/[\", which is no pattern",
		"crontabs:\n- {file: /etc/crontab, system: maybe}":                   `line 2: system is "maybe"; want true or false`,
		"crontabs:\n- {file: " + dir + "/open, user: x}":                     "line 2: read " + dir + "/open: other users can write to it (mode 0666)",
		"commands: &a []\ncrontabs: *a":                                      "an alias",
		"commands: []\n---\ncommands: []":                                    "several documents",
		"\xff":                                                               "not valid UTF-8",
		"commands:\n- {command: x, user: y, env: {a: b}, stdin: \"\"}\n":     "line 2: stdin is empty",
		"commands:\n- {command: x, user: y, success: 3}\n":                   `line 2: success is "3"; want a list`,
		"commands:\n- ? [a]\n  : b\n":                                        "a key of a command is a list",
		"commands:\n- {command: x, user: y}\nx: y\n":                         "line 3: the key \"x\"",
		"commands:\n- {command: x, user: y, timeout: {}}\n":                  "line 2: timeout is a mapping",
		"commands:\n- {command: x, user: y, directory: /x, directory: /y}\n": "line 2: ",
	} {
		if text == "" || !strings.HasPrefix(text, "\xff") {
			path := filepath.Join(dir, "allow.yaml")
			write(t, path, text)
			_, err := ReadRules(path)
			testkit.Refuses(t, err, path+": ", want)
			continue
		}
		testkit.Refuses(t, new(Rules).parse([]byte(text)), want)
	}
	if os.Geteuid() == 0 {
		testkit.Refuses(t, new(Rules).parse([]byte("commands:\n- {command: x}")), "line 2: the user is missing, and this worker runs as root")
	}
}

// TestTrust: nobody but the worker's user and root may choose what runs.
func TestTrust(t *testing.T) {
	_, allow := place(t, commandsAllowed("true"))
	for _, c := range []struct {
		path string
		mode os.FileMode
		want string
	}{
		{allow, 0o620, "allow.yaml: other users can write to it (mode 0620)"},
		{allow, 0o602, "(mode 0602)"},
		{filepath.Dir(allow), 0o777, "(mode 0777)"},
	} {
		before, _ := os.Stat(c.path)
		if err := os.Chmod(c.path, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := ReadRules(allow)
		testkit.Refuses(t, err, c.want, "chmod go-w")
		_ = os.Chmod(c.path, before.Mode())
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(allow, 1, 1); err != nil {
			t.Fatal(err)
		}
		_, err := ReadRules(allow)
		testkit.Refuses(t, err, "it belongs to the user 1, who would choose what runs; want root")
		if strings.Contains(err.Error(), "or root") {
			t.Errorf("root is named twice: %v", err)
		}
	}
	_, err := ReadRules(filepath.Dir(allow))
	testkit.Refuses(t, err, "it is a directory; want a regular file")
}

// TestFilesThatBlock: a pipe in the place of the allow file or among the crontabs is refused at once, so that the rules before
// stay in force, and the log says why.
func TestFilesThatBlock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cron.d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a"), "0 0 * * * alice run\n")
	allow := filepath.Join(filepath.Dir(dir), "allow.yaml")
	write(t, allow, "crontabs: [{file: '"+dir+"/*'}]")
	log := new(testkit.Buffer)
	k, err := openKeeper(allow, loggerTo(log))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "b"), allow} {
		_ = os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		found := make(chan error, 1)
		go func() {
			_, err := k.now().find(&order{Command: "run"})
			found <- err
		}()
		if err := testkit.Receive(t, found); err != nil {
			t.Error(err)
		}
		if want := path + ": it is a pipe; want a regular file"; !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q:\n%s", want, log)
		}
	}
}

// TestCrontabs: the commands of crontabs may run with the user and the variables of their lines; a job chooses among them.
func TestCrontabs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cron.d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a"), "A=1\n0 0 * * * alice run\nA=2\n1 0 * * * alice run\n2 0 * * * bob run%in\n@reboot carol once\n")
	write(t, filepath.Join(dir, "a.dpkg-old"), "0 0 * * * root old\n")
	allow := filepath.Join(filepath.Dir(dir), "allow.yaml")
	write(t, allow, "crontabs: [{file: '"+dir+"/*', env: {B: b}, timeout: 1h}]")
	k, err := openKeeper(allow, discard)
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.now().find(&order{Command: "run", User: "alice", Env: map[string]string{"A": "2", "B": "b"}})
	if err != nil || p.env["A"] != "2" || p.env["B"] != "b" || p.user != "alice" || p.timeout.Hours() != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = k.now().find(&order{Command: "run", Stdin: "in\n"}); err != nil || p.user != "bob" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, command := range []string{"old", "once", "run "} {
		_, err := k.now().find(&order{Command: command})
		testkit.Refuses(t, err, "is not in "+allow)
	}
	write(t, filepath.Join(dir, "b"), "0 0 * * * dave run\n")
	_, err = k.now().find(&order{Command: "run"})
	testkit.Refuses(t, err, "as alice and as dave", "--user")
	if _, err := k.now().find(&order{Command: "run", User: "dave"}); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	_, err = k.now().find(&order{Command: "run", User: "dave"})
	testkit.Refuses(t, err, "not as dave")
	write(t, allow, "nonsense: 1") // the rules before stay in force
	if _, err := k.now().find(&order{Command: "run", User: "alice"}); err != nil {
		t.Error(err)
	}
}

// FuzzRules: no text of an allow file panics, and one that is taken has only commands with a text.
func FuzzRules(f *testing.F) {
	f.Add("commands: [{command: a, user: b, env: {A: b}, success: [1], timeout: 1h}]")
	f.Add("crontabs:\n- {file: /no/*/such, system: true, directory: /}\n")
	f.Add("a: &x [*x]\n? {}\n: !!binary x\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file") {
			t.Skip("it could name any file of this machine")
		}
		r := new(Rules)
		if r.parse([]byte(text)) != nil {
			return
		}
		for by, permits := range r.permits {
			if by.command == "" || slices.ContainsFunc(permits, func(p *permit) bool { return strings.ContainsRune(p.command+p.stdin, 0) }) {
				t.Errorf("%q allows %q", text, by.command)
			}
		}
	})
}

// TestTail: the end of an output is kept, however it is written.
func TestTail(t *testing.T) {
	var one, all tail
	text := strings.Repeat("0123456789äöü\r\n", 3000)
	_, _ = all.Write([]byte(text))
	for i := range len(text) {
		_, _ = one.Write([]byte(text[i : i+1]))
	}
	if one.text(outputBytesMax) != all.text(outputBytesMax) || one.size() != int64(len(text)) {
		t.Error("byte by byte it is another")
	}
	if got := all.text(7); got != "89äöü"[1:] && got != "9äöü" {
		t.Errorf("%q", got)
	}
	if got := all.text(6); got != "äöü" {
		t.Errorf("%q", got)
	}
	if got := all.text(5); got != "öü" {
		t.Errorf("%q", got)
	}
}
