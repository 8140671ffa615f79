package kit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Binary returns the absolute path of the program that the flag --binary names. It returns an error if there is no such
// file.
func Binary(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("--binary: %w (make build builds it)", err)
	}
	if info.IsDir() {
		return "", errors.New("--binary is a directory")
	}
	return path, nil
}

// Interruptible returns a context that ends at the first Ctrl-C or SIGTERM; a second one ends the program at once.
// stop releases it. The first signal lets a run end in good order, with a report; the second is for a run that hangs.
func Interruptible() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// FreeAddress returns a loopback address, host:port, on which no program listens at the moment. Another program may
// take it before it is used; on a machine for tests that is rare enough.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
