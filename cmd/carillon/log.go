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

// unblock makes writes to the standard error return at once: a pipe whose reader stands still, or a stopped terminal, must not
// stop a server. The caller gives its logger to tellDropped.
func (c *console) unblock() {
	if c.log == nil {
		c.log = terminal.NewUnblocked(c.err)
		c.err = c.log
	}
}

// tellDropped has a logger say how many lines were dropped while the reader of the standard error stood still.
func (c *console) tellDropped(logger *slog.Logger) {
	c.log.OnDropped(func(lines uint64) {
		logger.Warn("lines of the log were dropped, because the reader of the standard error stood still", slog.Uint64("lines", lines))
	})
}

// logWarnings returns the warning of the status that the log is not read.
func (c *console) logWarnings() []string {
	if n := c.log.Dropped(); n > 0 {
		return []string{fmt.Sprintf("the log is not read: %d lines were dropped, because the reader of the standard error stands still", n)}
	}
	return nil
}

// endLog waits for flushTime at most until the lines of the log are written.
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

// adoptStandardLog turns the lines that libraries print by the standard logger of Go into lines of a log.
func adoptStandardLog(logger *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(&standardLog{logger: logger})
}

// standardLog is the output of the standard logger. The transport of net/http prints the bytes that a target sends unsolicited. They
// may be a secret that the target has received, so they are left out, and the log has one line about them in unsolicitedEvery.
type standardLog struct {
	logger *slog.Logger
	told   atomic.Int64 // when the last line about unsolicited bytes came, in Unix time
}

// unsolicitedEvery is the least time between two lines about unsolicited bytes.
const unsolicitedEvery = time.Minute

// Write implements io.Writer.
func (l *standardLog) Write(line []byte) (int, error) {
	if !strings.HasPrefix(string(line), "Unsolicited response") {
		l.logger.Warn(strings.TrimSpace(string(line)))
		return len(line), nil
	}
	now, told := time.Now().Unix(), l.told.Load()
	if now-told >= int64(unsolicitedEvery/time.Second) && l.told.CompareAndSwap(told, now) {
		l.logger.Warn("an HTTP target has sent unsolicited bytes; its connection is closed, and the bytes are not shown")
	}
	return len(line), nil
}
