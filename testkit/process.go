package testkit

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
)

// StartTest runs one test of the package under test in a process of its own, as a program for another test, and returns its
// input, its output and the process. Env is added to the environment, as NAME=VALUE, so that the program sees what it is to
// do, and skips itself if it is run as a test. The process is killed when ctx ends; the caller waits for it.
func StartTest(ctx context.Context, t testing.TB, name, env string) (in io.WriteCloser, out io.ReadCloser, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.CommandContext(ctx, os.Args[0], "-test.run", "^"+name+"$")
	cmd.Env = append(os.Environ(), env)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out, cmd
}
