package main

import (
	"io"
	"log/slog"
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
