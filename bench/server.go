package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a running process of the product, on a data directory of its own.
type server struct {
	ready   ready
	readyIn time.Duration // from the start of the process to its ready line
	dir     string
	cmd     *exec.Cmd
	began   time.Time
	started chan started // gets at most one, and is closed when there will be none
	exited  chan struct{}
	err     error // of its end; good once exited is closed
}

// ready is the line that the server prints once everything is up.
type ready struct {
	Ready bool   `json:"ready"`
	NATS  string `json:"nats"`
	HTTP  string `json:"http"`
	Role  string `json:"role"`
	Jobs  int    `json:"jobs"`
}

// readyWait is how long a start may take, recovery included.
const readyWait = 5 * time.Minute

// started is a ready line, and how long it took to come.
type started struct {
	ready ready
	in    time.Duration
}

// startServer starts the product on a directory and waits for its ready line.
func startServer(binary, dir string, flags ...string) (*server, error) {
	s, err := launchServer(binary, dir, flags...)
	if err != nil {
		return nil, err
	}
	if err := s.awaitReady(readyWait); err != nil {
		return nil, err
	}
	return s, nil
}

// launchServer starts the product on a directory and does not wait for it. Of a flag that is given again
// the last one counts.
func launchServer(binary, dir string, flags ...string) (*server, error) {
	stderr, err := os.OpenFile(dir+".stderr", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	s := &server{dir: dir, started: make(chan started, 1), exited: make(chan struct{})}
	args := []string{"serve", "--data", dir, "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"}
	s.cmd = exec.Command(binary, append(args, flags...)...)
	s.cmd.Stderr = stderr
	s.cmd.SysProcAttr = ownGroup()
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.began = time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	go s.watch(stdout)
	return s, nil
}

// awaitReady returns when the ready line has come. One that does not come in time is killed.
func (s *server) awaitReady(longest time.Duration) error {
	select {
	case line, ok := <-s.started:
		if !ok {
			<-s.exited
			return fmt.Errorf("the server ended before it was ready: %v; its log:\n%s", s.err, s.log())
		}
		s.ready, s.readyIn = line.ready, line.in
		return nil
	case <-time.After(longest):
		s.kill()
		return fmt.Errorf("the server was not ready after %s; its log:\n%s", longest, s.log())
	}
}

// watch reads stdout to its end and then takes in the exit status.
func (s *server) watch(stdout io.Reader) {
	scanner := bufio.NewScanner(stdout)
	for scanner.Scan() {
		var line ready
		if json.Unmarshal(scanner.Bytes(), &line) == nil && line.Ready {
			s.started <- started{line, time.Since(s.began)}
			break
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	close(s.started)
	s.err = s.cmd.Wait()
	close(s.exited)
}

// log returns the end of what the server wrote to stderr.
func (s *server) log() string {
	const most = 4000
	text, err := os.ReadFile(s.dir + ".stderr")
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// kill ends the process with SIGKILL and returns when it is gone.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // fails only if the process is gone already
	<-s.exited
}

// clear kills the process, if it is still there, and removes its data.
func (s *server) clear() {
	s.kill()
	_ = os.RemoveAll(s.dir) // what stays goes with the directory above
}

// stop ends the process in good order.
func (s *server) stop() error {
	const wait = time.Minute
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("the server is gone already: %v; its log:\n%s", s.err, s.log())
	}
	select {
	case <-s.exited:
	case <-time.After(wait):
		s.kill()
		return fmt.Errorf("the server was still there %s after SIGTERM", wait)
	}
	if s.err != nil {
		return fmt.Errorf("the server ended badly: %w; its log:\n%s", s.err, s.log())
	}
	return nil
}

// memory returns resident bytes: all of them, and those that only this process has and that no file
// backs. Both are 0 where there is no /proc.
func (s *server) memory() (resident, anonymous float64) {
	proc := "/proc/" + strconv.Itoa(s.cmd.Process.Pid)
	return kilobytes(field(proc+"/status", "VmRSS")), kilobytes(field(proc+"/smaps_rollup", "Anonymous"))
}

// kilobytes reads a value such as "1234 kB", and returns it in bytes.
func kilobytes(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if err != nil {
		return 0
	}
	return n * 1024
}

// disk returns how many bytes the data directory holds. Files that vanish meanwhile count nothing.
func (s *server) disk() (bytes float64, err error) {
	err = filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			bytes += float64(info.Size())
		}
		return nil
	})
	return bytes, err
}
