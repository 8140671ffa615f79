package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// repeatIgnored is the time after the first signal in which others are ignored. One Ctrl-C often arrives twice: from the
// terminal, which signals every process, and from the program that started this one.
const repeatIgnored = time.Second

// obeySignals calls stop at the first SIGTERM or SIGINT, and ends the process at the second. The second signal is the
// way out of a close that hangs; what was acknowledged is durable before that. The goroutine lives as long as the
// process.
func obeySignals(logger *slog.Logger, stop context.CancelFunc) {
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
				os.Exit(exitFailed)
			}
		}
	}()
}

// reloadOnHangup calls reload at each SIGHUP, until ctx ends.
func reloadOnHangup(ctx context.Context, logger *slog.Logger, reload func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				logger.Info("reading the files of the configuration again", slog.String("signal", syscall.SIGHUP.String()))
				reload()
			}
		}
	}()
}
