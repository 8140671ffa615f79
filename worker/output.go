package worker

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// outputDrainMax bounds what is read from a pipe after its command has ended: more than the kernel keeps in one, and less
// than a process in the background can write without end.
const outputDrainMax = 1 << 20

// outputPipe reads what a command prints. A process that a command leaves in the background may keep the pipe open, so it is
// read for outputDelay after the command's end; but whatever is in it by then was printed before and belongs to the output,
// however late this process gets to read it.
type outputPipe struct {
	read, write *os.File // write is closed once the command has it
	to          io.Writer
	sink        *sink         // has the pipe too
	number      uint64        // of the pipe, for the sink
	over        chan struct{} // closed when all has been read
}

// openOutput returns a pipe to a writer, which the sink reads if this process dies. The caller starts the command with the
// pipe's write, and then calls begin.
func openOutput(to io.Writer, s *sink) (*outputPipe, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &outputPipe{read, write, to, s, s.keep(read), make(chan struct{})}, nil
}

// abandon closes the pipe of a command that was not started.
func (o *outputPipe) abandon() {
	_ = o.write.Close()
	o.close()
}

// close closes the pipe to be read, here and in the sink: who prints later gets SIGPIPE.
func (o *outputPipe) close() {
	_ = o.read.Close()
	o.sink.drop(o.number)
}

// begin reads until all processes with the pipe have ended, or end gives up waiting for them.
func (o *outputPipe) begin() {
	_ = o.write.Close()
	go func() {
		defer close(o.over)
		defer o.close()
		if _, err := io.Copy(o.to, o.read); errors.Is(err, os.ErrDeadlineExceeded) {
			o.drain()
		}
	}()
}

// end returns when the output of a command that has ended is complete.
func (o *outputPipe) end() {
	timer := time.NewTimer(outputDelay)
	defer timer.Stop()
	select {
	case <-o.over:
	case <-timer.C:
		o.giveUp()
		<-o.over
	}
}

// giveUp ends the wait of the reader for more output.
func (o *outputPipe) giveUp() { _ = o.read.SetReadDeadline(time.Unix(1, 0)) }

// drain reads what is in the pipe, without waiting for more.
func (o *outputPipe) drain() {
	_ = o.read.SetReadDeadline(time.Time{})
	raw, err := o.read.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	_ = raw.Read(func(fd uintptr) bool {
		for left := outputDrainMax; left > 0; {
			n, err := syscall.Read(int(fd), buf)
			if err == syscall.EINTR {
				continue
			}
			if n <= 0 || err != nil {
				break
			}
			_, _ = o.to.Write(buf[:n]) // a tail never fails
			left -= n
		}
		return true
	})
}
