package kit

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/carillon-io/carillon/bench/ports"
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

// Parse parses a command line without positional arguments. If it leaves the seed 0, Parse draws one, so that the run can
// print the command that repeats it.
func Parse(flags *flag.FlagSet, args []string, seed *uint64) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	return nil
}

// Run makes a run of a program in a new directory below temp, the system's if that is empty, and returns the exit status:
// 0 if no check failed, 1 if one did or an error came. Do checks the run, and removes the directory or keeps it; its context
// ends at the first Ctrl-C or SIGTERM. Errors are written to progress, after the program's name.
func Run(name, temp string, progress io.Writer, do func(ctx context.Context, dir string) (failed int, err error)) (status int) {
	ctx, stop := interruptible()
	defer stop()
	dir, err := os.MkdirTemp(temp, "carillon-"+name+"-")
	failed := 0
	if err == nil {
		failed, err = do(ctx, dir)
	}
	if err != nil {
		fmt.Fprintf(progress, "%s: %v\n", name, err)
	}
	if failed > 0 || err != nil {
		return 1
	}
	return 0
}

// interruptible returns a context that ends at the first Ctrl-C or SIGTERM; a second one ends the program at once.
// stop releases it. The first signal lets a run end in good order, with a report; the second is for a run that hangs.
func interruptible() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// FreeAddress returns a loopback address, host:port, on which no program listens at the moment, and which the system
// gives to none that asks for any port.
func FreeAddress() (string, error) {
	addrs, err := ports.Free(1)
	if err != nil {
		return "", err
	}
	return addrs[0], nil
}
