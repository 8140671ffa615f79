package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// receiver is the handle of a receiving process.
type receiver struct {
	*process
	input  io.WriteCloser
	output io.Closer
	lines  *bufio.Scanner
}

// startReceiver starts this program again, to receive what a system fires.
func startReceiver(s system, dir string) (*receiver, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{"receive"}, s.receive()...)...)
	r := &receiver{}
	if r.input, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// A pipe of our own: the command's is closed when the process ends, read or not.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	cmd.Stdout = write
	if r.process, err = startProcess(cmd, filepath.Join(dir, "receiver.log")); err != nil {
		_ = read.Close()
		return nil, err
	}
	r.output, r.lines = read, bufio.NewScanner(read)
	if !r.lines.Scan() || r.lines.Text() != readyText {
		r.close()
		return nil, r.failure("the receiver did not start")
	}
	return r, nil
}

// count asks how much has arrived.
func (r *receiver) count() (int, error) {
	if _, err := fmt.Fprintln(r.input); err != nil {
		return 0, r.failure("the receiver is gone")
	}
	if !r.lines.Scan() {
		return 0, r.failure("the receiver says nothing")
	}
	return strconv.Atoi(r.lines.Text())
}

// collect ends the receiver and returns what arrived.
func (r *receiver) collect() ([]receipt, error) {
	_ = r.input.Close()
	var all []receipt
	for r.lines.Scan() {
		one, err := parseReceipt(r.lines.Text())
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	<-r.exited
	if r.err != nil {
		return nil, r.failure("the receiver failed")
	}
	return all, nil
}

func parseReceipt(line string) (receipt, error) {
	first, second, _ := strings.Cut(line, " ")
	number, err := strconv.Atoi(first)
	if err != nil {
		return receipt{}, fmt.Errorf("receipt %q: %w", line, err)
	}
	nanos, err := strconv.ParseInt(second, 10, 64)
	if err != nil {
		return receipt{}, fmt.Errorf("receipt %q: %w", line, err)
	}
	return receipt{number, time.Unix(0, nanos)}, nil
}

// close ends the receiver, if it is still there.
func (r *receiver) close() {
	r.kill()
	_ = r.output.Close()
}
