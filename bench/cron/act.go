package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"
)

// actName is the name of this program as a command of the table. It stands in a directory beside the notes.
const actName = "act"

// note is what one command says of itself. A line of a notes file has it as JSON when the command has begun, and again
// when it is about to end.
type note struct {
	ID    string    `json:"id"`  // of the table's line
	Run   string    `json:"run"` // CARILLON_RUN_ID; "" under cron
	PID   int       `json:"pid"`
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`

	surroundings
	Printed []byte `json:"printed,omitempty"`
	Exit    int    `json:"exit"`
}

// surroundings are what a command finds when it begins. Both sides must give the same.
type surroundings struct {
	User  string `json:"user"`
	Dir   string `json:"dir"`
	Env   string `json:"env"` // the variables of seenEnv
	Stdin string `json:"stdin"`
}

// seenEnv are the variables that cron promises, and one that the table sets.
var seenEnv = []string{"HOME", "LOGNAME", "SHELL", "PATH", "MARK"}

// stdinMax bounds the input that an act reads.
const stdinMax = 64 << 10

// act is a command of the table: it notes its beginning, prints, waits, notes its end, and exits with the status that its
// line says. 120 is its own failure.
func act(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	n := note{Began: time.Now(), Run: os.Getenv("CARILLON_RUN_ID"), PID: os.Getpid()}
	if err := n.perform(args, stdin, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "act:", err)
		return 120
	}
	return n.Exit
}

func (n *note) perform(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet(actName, flag.ContinueOnError)
	flags.StringVar(&n.ID, "id", "", "of the line")
	takes := flags.Duration("takes", 0, "how long it waits")
	prints := flags.String("prints", "", "what it prints: one of the kinds of output")
	flags.IntVar(&n.Exit, "exits", 0, "exit status")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := n.look(stdin); err != nil {
		return err
	}
	if err := n.write(); err != nil {
		return err
	}
	to := stdout
	if *prints == "stderr" {
		to = stderr
	}
	n.Printed = outputOf(*prints, n.ID, n.Began)
	if _, err := to.Write(n.Printed); err != nil {
		return err
	}
	time.Sleep(*takes)
	n.Ended = time.Now()
	return n.write()
}

// look notes the surroundings.
func (n *note) look(stdin io.Reader) error {
	u, err := user.Current()
	if err != nil {
		return err
	}
	input, err := io.ReadAll(io.LimitReader(stdin, stdinMax))
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	var env []string
	for _, name := range seenEnv {
		env = append(env, name+"="+os.Getenv(name))
	}
	n.surroundings = surroundings{User: u.Username, Dir: dir, Env: strings.Join(env, " "), Stdin: string(input)}
	return nil
}

// write appends the note to the file of its line, by one write, so that commands that overlap mix no lines.
func (n *note) write() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(filepath.Dir(program)), "notes", n.ID)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// outputs are the kinds of output of a command.
var outputs = []string{"nothing", "line", "lines", "much", "stderr", "odd"}

// outputOf returns what a command prints. It differs from start to start.
func outputOf(kind, id string, at time.Time) []byte {
	stamp := fmt.Sprintf("%s at %s", id, at.Format(time.RFC3339Nano))
	switch kind {
	case "line", "stderr":
		return []byte(stamp + "\n")
	case "lines":
		return []byte("  first\n\tsecond\n\n" + stamp + "\n\n")
	case "much":
		return []byte(strings.Repeat(stamp+" größer als ein Ergebnis\n", 500))
	case "odd":
		return []byte("\x1b[31mred\x1b[0m\r\nbad \xff\xfe utf-8\x00 " + stamp + " ✓")
	}
	return nil
}
