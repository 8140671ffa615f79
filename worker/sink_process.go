package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// RunSink is the program of the process of [Options.Sink]; its standard input is the connection to the worker. When the worker
// has died, it reads what the commands print that are left, and drops it, until all of their outputs are closed. It returns
// then, or when the worker has no more commands. Signals that ask it to end are ignored, because it ends by itself.
func RunSink(worker *os.File) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	conn, err := net.FileConn(worker)
	if err != nil {
		return fmt.Errorf("the connection to the worker: %w", err)
	}
	_ = worker.Close()
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.Join(errors.New("the standard input is no connection to a worker"), conn.Close())
	}
	var all sync.WaitGroup
	for _, pipe := range receivePipes(unix) {
		all.Go(func() { _, _ = io.Copy(io.Discard, pipe) })
	}
	all.Wait()
	return nil
}

// receivePipes takes the messages of a worker until it dies, and returns the pipes that it has not dropped.
func receivePipes(worker *net.UnixConn) map[uint64]*os.File {
	pipes := make(map[uint64]*os.File)
	message, rights := make([]byte, sinkMessageBytes), make([]byte, syscall.CmsgSpace(4))
	for {
		n, m, _, _, err := worker.ReadMsgUnix(message, rights)
		if err == nil && n > 0 && n < len(message) {
			_, err = io.ReadFull(worker, message[n:])
		}
		if err != nil || n == 0 {
			return pipes
		}
		number := binary.LittleEndian.Uint64(message)
		if pipe := pipeOf(rights[:m]); pipe != nil {
			pipes[number] = pipe
		} else if pipe = pipes[number]; pipe != nil {
			_ = pipe.Close()
			delete(pipes, number)
		}
	}
}

// pipeOf returns the pipe that came with a message; nil: none came.
func pipeOf(rights []byte) *os.File {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil
	}
	return os.NewFile(uintptr(fds[0]), "output")
}
