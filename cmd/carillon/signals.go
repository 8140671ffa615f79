package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// repeatIgnored is how long after the first signal another one does not count. One Ctrl-C often comes
// twice: from the terminal, which tells every process, and from the program that started this one.
const repeatIgnored = time.Second

// obeySignals makes the first SIGTERM or SIGINT call stop, and the next one end the process where it is.
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
