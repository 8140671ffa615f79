package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// sinkTimeout bounds the wait for a sink that takes no messages, as one that is stopped.
const sinkTimeout = time.Second

// sink is a process that has the read ends of the pipes of all commands. It reads nothing while the worker lives. When that
// has died, it reads and drops what they print, so that they go on: without a reader they would get SIGPIPE. It holds nothing
// but the pipes, on disk or in memory. A nil sink keeps nothing. Safe for concurrent use.
//
// A message of the worker is the number of a pipe, with the pipe when its command starts, and alone when its output is
// complete. The end of the connection is the death of the worker. What was sent before that arrives, so no pipe is without a
// reader in between.
type sink struct {
	cmd    *exec.Cmd
	logger *slog.Logger
	ended  chan struct{} // closed when the process has ended

	mu   sync.Mutex
	conn *net.UnixConn // nil: the sink has ended, or is to end
	last uint64        // number of the latest pipe
}

// sinkMessageBytes is the size of a message: the number, little-endian.
const sinkMessageBytes = 8

// startSink starts a process that calls [RunSink]; nil starts none.
func startSink(cmd *exec.Cmd, logger *slog.Logger) (*sink, error) {
	if cmd == nil {
		return nil, nil
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("start the reader of output: %w", err)
	}
	cmd.Stdin, cmd.Dir = theirs, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // signals of a terminal are for the worker
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("start the reader of output: %w", err)
	}
	s := &sink{cmd: cmd, logger: logger, ended: make(chan struct{}), conn: ours}
	go s.watch()
	return s, nil
}

// socketPair returns two ends of a connection: one of this process, and one for another.
func socketPair() (*net.UnixConn, *os.File, error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "sink"), os.NewFile(uintptr(fds[1]), "worker")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return conn.(*net.UnixConn), theirs, nil
}

// watch waits for the end of the process.
func (s *sink) watch() {
	err := s.cmd.Wait()
	close(s.ended)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveUp(err)
}

// giveUp ends the sink and logs why, unless it is to end. The process is killed before the connection closes: it would take
// that for the death of the worker, and read what is the worker's.
func (s *sink) giveUp(err error) {
	if s.conn == nil {
		return
	}
	s.logger.Error("the process that reads output after the death of this worker is gone; until a restart, commands that print end with a worker that is killed",
		slog.Any("error", err))
	_ = s.cmd.Process.Kill()
	_ = s.conn.Close()
	s.conn = nil
}

// keep gives the read end of a pipe to the sink, and returns the number for drop.
func (s *sink) keep(read *os.File) uint64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	raw, err := read.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { s.send(s.last, syscall.UnixRights(int(fd))) })
	}
	if err != nil {
		s.giveUp(err)
	}
	return s.last
}

// drop makes the sink close a pipe.
func (s *sink) drop(number uint64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(number, nil)
}

// send sends a message; the caller has mu.
func (s *sink) send(number uint64, rights []byte) {
	if s.conn == nil {
		return
	}
	err := s.conn.SetWriteDeadline(time.Now().Add(sinkTimeout))
	if err == nil {
		_, _, err = s.conn.WriteMsgUnix(binary.LittleEndian.AppendUint64(nil, number), rights, nil)
	}
	if err != nil {
		s.giveUp(err)
	}
}

// close ends the sink of a worker whose commands have ended.
func (s *sink) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	conn := s.conn
	s.conn = nil
	s.mu.Unlock()
	_ = s.cmd.Process.Kill()
	<-s.ended
	if conn != nil {
		_ = conn.Close()
	}
}
