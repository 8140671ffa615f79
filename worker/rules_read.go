package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/crontab"
)

// Bounds of the allow file and of what it names.
const (
	// RulesBytesMax bounds the allow file and each crontab, in bytes.
	RulesBytesMax = 1 << 20
	commandsMax   = 20_000 // of all files together
	crontabsMax   = 1000   // that match one pattern
	timeoutMax    = 30 * 24 * time.Hour
	exitStatusMax = 255
)

// ReadRules reads an allow file and the crontabs that it names. An error says the line of the file that is at fault. Files
// that other users could write are refused, because they would run commands as the users of others.
func ReadRules(path string) (*Rules, error) {
	text, err := readTrusted(path)
	if err != nil {
		return nil, err
	}
	r := &Rules{path: path}
	if err := r.parse(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// parse reads the text of an allow file.
func (r *Rules) parse(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("the file is not valid UTF-8")
	}
	root, err := parseDocument(text)
	if err != nil {
		return err
	}
	err = readKeys(root, "the file",
		key{"commands", func(n *yaml.Node) error { return eachItem(n, "commands", r.readCommand) }},
		key{"crontabs", func(n *yaml.Node) error { return eachItem(n, "crontabs", r.readCrontabs) }})
	switch {
	case err != nil:
	case r.count == 0 && len(r.crontabs) == 0:
		err = errors.New("the file allows nothing; want a list of commands or of crontabs")
	case r.count > commandsMax:
		err = fmt.Errorf("the file allows %d commands; want at most %d", r.count, commandsMax)
	}
	return err
}

// settings returns the keys that a command and a crontab share.
func (p *permit) settings() []key {
	return []key{
		{"user", text(&p.user, "user")},
		{"directory", absolute(&p.directory, "directory")},
		{"shell", absolute(&p.shell, "shell")},
		{"env", func(n *yaml.Node) error {
			return eachPair(n, "env", func(name, value *yaml.Node) error { return p.setVariable(name, value) })
		}},
		{"timeout", func(n *yaml.Node) error { return readTimeout(n, &p.timeout) }},
		{"success", func(n *yaml.Node) error {
			return eachItem(n, "success", func(n *yaml.Node) error {
				var status int
				err := number(&status, "an exit status of success", 0, exitStatusMax)(n)
				p.success = append(p.success, status)
				return err
			})
		}},
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (p *permit) setVariable(name, value *yaml.Node) error {
	if !variableName.MatchString(name.Value) {
		return wrong(name, "%q is no name of a variable; want letters, digits and _", clip(name.Value))
	}
	if value.Kind != yaml.ScalarNode || value.Tag == "!!null" || strings.ContainsRune(value.Value, 0) {
		return wrong(value, "the variable %s is %s; want a text, \"\" for an empty one", clip(name.Value), kindOf(value))
	}
	if p.env == nil {
		p.env = make(map[string]string)
	}
	p.env[name.Value] = value.Value
	return nil
}

// absolute returns what reads an absolute path.
func absolute(to *string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if err := text(to, what)(n); err != nil {
			return err
		}
		if !filepath.IsAbs(*to) {
			return wrong(n, "%s is %q; want an absolute path", what, clip(*to))
		}
		return nil
	}
}

func readTimeout(n *yaml.Node, to *time.Duration) error {
	d, err := client.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d <= 0 || time.Duration(d) > timeoutMax {
		return wrong(n, "timeout is %s; want a time such as 90s or 2h, at most 30d", kindOf(n))
	}
	*to = time.Duration(d)
	return nil
}

// readCommand reads an exact command.
func (r *Rules) readCommand(n *yaml.Node) error {
	p := &permit{isExact: true, from: fmt.Sprintf("line %d", n.Line)}
	keys := append(p.settings(), key{"command", text(&p.command, "command")}, key{"stdin", text(&p.stdin, "stdin")})
	if err := readKeys(n, "a command", keys...); err != nil {
		return err
	}
	if p.command == "" {
		return wrong(n, "the command is missing; want command: TEXT, as the job has it")
	}
	if err := checkUser(n, p.user); err != nil {
		return err
	}
	r.add(p)
	return nil
}

// checkUser wants the user of each command of a worker of root: root is chosen, and never the default.
func checkUser(n *yaml.Node, user string) error {
	if user == "" && os.Geteuid() == 0 {
		return wrong(n, "the user is missing, and this worker runs as root; want user: NAME, root if that is meant")
	}
	return nil
}

// readCrontabs reads the crontabs of a path or a pattern: each of their commands may run.
func (r *Rules) readCrontabs(n *yaml.Node) error {
	var path string
	var system *bool
	like := new(permit)
	keys := append(like.settings(), key{"file", absolute(&path, "file")}, key{"system", truth(&system, "system")})
	if err := readKeys(n, "a crontab", keys...); err != nil {
		return err
	}
	if path == "" {
		return wrong(n, "the file is missing; want file: PATH, such as /etc/crontab or /etc/cron.d/*")
	}
	hasUsers := crontab.HasUserColumn(path)
	if system != nil {
		hasUsers = *system
	}
	if hasUsers && like.user != "" {
		return wrong(n, "the lines of %s name their users; leave user out, or want system: false", clip(path))
	}
	if !hasUsers {
		if err := checkUser(n, like.user); err != nil {
			return err
		}
	}
	r.crontabs = append(r.crontabs, path)
	files, err := crontabsOf(path)
	if err != nil {
		return wrong(n, "%v", err)
	}
	for _, file := range files {
		text, err := readTrusted(file)
		if err != nil {
			return wrong(n, "%v", err)
		}
		r.addCrontab(file, string(text), hasUsers, like)
	}
	return nil
}

// cronName matches the names of the files in a directory that cron reads. Others are what a package has left there.
var cronName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// crontabsOf returns the files of a path or a pattern. A pattern that matches none is no error: packages come and go.
func crontabsOf(path string) (files []string, err error) {
	if !strings.ContainsAny(path, `*?[`) {
		return []string{path}, nil
	}
	found, err := filepath.Glob(path)
	if err != nil {
		return nil, fmt.Errorf("file is %q, which is no pattern: %w", clip(path), err)
	}
	for _, file := range found {
		if cronName.MatchString(filepath.Base(file)) {
			files = append(files, file)
		}
	}
	if len(files) > crontabsMax {
		return nil, fmt.Errorf("file is %q, which %d files match; want at most %d", clip(path), len(files), crontabsMax)
	}
	return files, nil
}

// addCrontab adds the commands of a crontab. Lines that are refused run nothing, as in the import.
func (r *Rules) addCrontab(file, text string, hasUsers bool, like *permit) {
	for entry := range (crontab.Reader{System: hasUsers}).Read(text) {
		if entry == nil {
			continue
		}
		p := *like
		p.command, p.stdin, p.from = entry.Command, entry.Stdin, fmt.Sprintf("%s:%d", file, entry.Line)
		if hasUsers {
			p.user = entry.User
		}
		p.env = make(map[string]string, len(entry.Env)+len(like.env))
		for name, value := range entry.Env {
			p.env[name] = value
		}
		for name, value := range like.env {
			p.env[name] = value
		}
		r.add(&p)
	}
}
