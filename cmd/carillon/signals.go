package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// repeatIgnored is the time after the first signal in which others are ignored. One Ctrl-C often arrives twice: from the
// terminal, which signals every process, and from the program that started this one.
const repeatIgnored = time.Second

// obeySignals calls stop at the first SIGTERM or SIGINT, and ends the process at the second. The second signal is the
// way out of a close that hangs; what was acknowledged is durable before that. The goroutine lives as long as the
// process.
func obeySignals(logger *slog.Logger, stop context.CancelFunc, exit func(status int)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		logger.Info("closing", slog.String("signal", s.String()))
		first := time.Now()
		stop()
		for range signals {
			if time.Since(first) > repeatIgnored {
				logger.Warn("ending at once: second signal")
				exit(exitFailed)
			}
		}
	}()
}

// holdHangups makes SIGHUP a request to read files again from here on, where it would end the process: a server that waits
// for its peers must survive a reload of its unit. One request is kept until reloadOnHangup. A command that is no server
// has no channel; see interruptible.
func holdHangups(args []string) <-chan os.Signal {
	if !slices.Contains(args, "serve") {
		return nil
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// reloadOnHangup calls reload at each SIGHUP, until ctx ends.
func reloadOnHangup(ctx context.Context, logger *slog.Logger, hangups <-chan os.Signal, reload func()) {
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				logger.Info("reading the files of the configuration again", slog.String("signal", syscall.SIGHUP.String()))
				reload()
			}
		}
	}()
}
