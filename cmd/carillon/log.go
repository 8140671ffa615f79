package main

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/terminal"
)

// newLogger returns a logger for the values of --log-format and --log-level, which the parser has checked. The log
// goes to the standard error in every command, because the standard output is for results. A level that is unknown
// would be info, the zero value.
func newLogger(w io.Writer, format, level string) *slog.Logger {
	var least slog.Level
	_ = least.UnmarshalText([]byte(level))
	opts := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// flushTime bounds the wait for the last lines of a log when the program ends.
const flushTime = time.Second

// unblock lets nothing that this command writes to the standard error wait for whoever reads it: a pipe that nobody reads, or a
// terminal that is stopped, must not stop a server. A logger that writes to it is to be given to tellDropped.
func (c *console) unblock() {
	if c.log == nil {
		c.log = terminal.NewUnblocked(c.err)
		c.err = c.log
	}
}

// tellDropped has a logger say how many lines were dropped while nobody read them.
func (c *console) tellDropped(logger *slog.Logger) {
	c.log.OnDropped(func(lines uint64) {
		logger.Warn("lines of the log were dropped, because whatever reads the standard error stood still", slog.Uint64("lines", lines))
	})
}

// logWarnings returns the warning of the status that the log is not read.
func (c *console) logWarnings() []string {
	if n := c.log.Dropped(); n > 0 {
		return []string{fmt.Sprintf("the log is not read: %d lines were dropped, because whatever reads the standard error stands still", n)}
	}
	return nil
}

// endLog waits a moment until what was written has left.
func (c *console) endLog() {
	if c.log != nil {
		c.log.Close(flushTime)
	}
}

// exitNow ends the program at once, but for the last lines of its log.
func (c *console) exitNow(status int) {
	c.endLog()
	os.Exit(status)
}

// adoptStandardLog lets what libraries print by the standard logger come as lines of a log.
func adoptStandardLog(logger *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(&standardLog{logger: logger})
}

// standardLog is the output of the standard logger. The transport of net/http prints what a target sends without being asked, which
// can be anything, also a secret that the target has received: these bytes are left out, and the line comes once in unaskedEvery.
type standardLog struct {
	logger *slog.Logger
	told   atomic.Int64 // when the last such line came, in Unix time
}

// unaskedEvery is the least time between two lines about bytes that nobody asked for.
const unaskedEvery = time.Minute

// Write implements io.Writer.
func (l *standardLog) Write(line []byte) (int, error) {
	if !strings.HasPrefix(string(line), "Unsolicited response") {
		l.logger.Warn(strings.TrimSpace(string(line)))
		return len(line), nil
	}
	now, told := time.Now().Unix(), l.told.Load()
	if now-told >= int64(unaskedEvery/time.Second) && l.told.CompareAndSwap(told, now) {
		l.logger.Warn("an HTTP target has sent bytes that nobody asked for; its connection is closed, and the bytes are not shown")
	}
	return len(line), nil
}
