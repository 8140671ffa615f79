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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// server is a process of the product with its own data directory. One goroutine, begun by launchServer, reads the
// output and waits for the exit.
type server struct {
	ready   ready
	readyIn time.Duration // from the start of the process to its ready line
	dir     string
	cmd     *exec.Cmd
	began   time.Time
	started chan started // receives at most one value; closed when no ready line can come any more
	exited  chan struct{}
	err     error // exit status; valid once exited is closed
}

// ready is the line that the server prints when it is ready.
type ready struct {
	Ready bool   `json:"ready"`
	NATS  string `json:"nats"`
	HTTP  string `json:"http"`
	Role  string `json:"role"`
	Jobs  int    `json:"jobs"`
}

// readyWait bounds a start, including recovery. It has room for ten million jobs.
const readyWait = 5 * time.Minute

// started is a ready line, and the time that it took.
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

// launchServer starts the product on a directory and does not wait until it is ready. It listens on free ports, unless flags
// says where. A port of 0 lets the system choose free ones, so that several servers run side by
// side. Its log is beside the data directory, where clear leaves it for messages.
func launchServer(binary, dir string, flags ...string) (*server, error) {
	stderr, err := os.OpenFile(dir+".stderr", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	s := &server{dir: dir, started: make(chan started, 1), exited: make(chan struct{})}
	args := []string{"serve", "--data", dir}
	for _, flag := range []string{"--listen", "--http-listen"} {
		if !slices.Contains(flags, flag) {
			args = append(args, flag, "127.0.0.1:0")
		}
	}
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

// awaitReady waits for the ready line. It kills the server if the line does not come in time. It is called once for a
// process.
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

// watch reads stdout to its end and then waits for the exit status.
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

// kill ends the process with SIGKILL and waits until it has ended.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // fails only if the process has already ended
	<-s.exited
}

// clear kills the process, if it is still running, and removes its data.
func (s *server) clear() {
	if s.cmd != nil { // it was started
		s.kill()
	}
	_ = os.RemoveAll(s.dir) // the caller removes the parent directory with any rest
}

// stop ends the process with SIGTERM and waits until it has ended. It returns an error if the process had ended
// before, since then something else ended it.
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

// memory returns the resident bytes of the process, and those of them that are anonymous: private and not backed by a
// file. Both are 0 on systems without /proc. Files that the kernel caches for the store count as resident, but can be
// dropped, which is why both are returned.
func (s *server) memory() (resident, anonymous float64) {
	proc := "/proc/" + strconv.Itoa(s.cmd.Process.Pid)
	return kilobytes(measure.Field(proc+"/status", "VmRSS")), kilobytes(measure.Field(proc+"/smaps_rollup", "Anonymous"))
}

// kilobytes reads a value such as "1234 kB", and returns it in bytes.
func kilobytes(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if err != nil {
		return 0
	}
	return n * 1024
}

// disk returns the bytes on disk of the data directory. Files that are removed meanwhile do not count.
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
