//go:build unix

package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ReadSecret reads a line from a terminal, without showing what is typed and without the line end. A line of more than
// most bytes is an error. If ctx ends first, its error is returned; a line that is typed later is lost. In each case
// the terminal shows again what is typed.
func ReadSecret(ctx context.Context, f *os.File, most int) (string, error) {
	before, err := unix.IoctlGetTermios(int(f.Fd()), termiosGet)
	if err != nil {
		return "", fmt.Errorf("read from the terminal: %w", err)
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	hidden.Lflag |= unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(int(f.Fd()), termiosSet, &hidden); err != nil {
		return "", fmt.Errorf("hide what is typed: %w", err)
	}
	defer func() { _ = unix.IoctlSetTermios(int(f.Fd()), termiosSet, before) }()
	type line struct {
		text string
		err  error
	}
	got := make(chan line, 1)
	go func() {
		text, err := readLine(f, most)
		got <- line{text, err}
	}()
	select {
	case l := <-got:
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readLine reads byte by byte, so that what follows the line stays for others. It reads a line that is too long to its
// end and keeps the beginning.
func readLine(r io.Reader, most int) (string, error) {
	var text []byte
	for b := make([]byte, 1); ; {
		n, err := r.Read(b)
		switch {
		case n == 0 && err != nil && !errors.Is(err, io.EOF):
			return "", err
		case n == 1 && b[0] != '\n':
			if len(text) <= most {
				text = append(text, b[0])
			}
			continue
		case n == 0 && err == nil:
			continue
		case len(text) > most:
			return "", fmt.Errorf("the line has more than %d bytes", most)
		}
		return string(text), nil
	}
}
