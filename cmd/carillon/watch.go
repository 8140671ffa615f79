package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/alecthomas/kong"
)

// The time between two looks of --watch.
const (
	watchDefault = 2 * time.Second
	watchMin     = 200 * time.Millisecond
)

// watchRowsMax bounds a list that is watched: a state is held in memory to be compared with the next.
const watchRowsMax = 1000

// watchFlag makes a command look again and again.
type watchFlag struct {
	Watch watchEvery `short:"w" help:"Look again every 2s until Ctrl-C, and show each new state; --watch=SPAN for another time, at least 200ms."`
}

// watchEvery is the time between two looks; 0 looks once.
type watchEvery time.Duration

// Decode implements kong.MapperValue: the flag may stand alone, or have a value behind a =.
func (w *watchEvery) Decode(ctx *kong.DecodeContext) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		*w = watchEvery(watchDefault)
		return nil
	}
	var every span
	if err := every.UnmarshalText([]byte(ctx.Scan.Pop().String())); err != nil {
		return err
	}
	if time.Duration(every) < watchMin {
		return fmt.Errorf("%s is too often; want at least %s", time.Duration(every), watchMin)
	}
	*w = watchEvery(every)
	return nil
}

// IsBool implements kong.BoolMapperValue.
func (*watchEvery) IsBool() bool { return true }

// rows bounds the rows that a watched list shows; 0 is no limit.
func (f *watchFlag) rows(limit int) int {
	if f.Watch > 0 && (limit <= 0 || limit > watchRowsMax) {
		return watchRowsMax
	}
	return limit
}

// look shows something once, or until ctx ends if it is watched. If the first look fails, so does the
// command; later failures are told, and the next look may do better.
func (f *watchFlag) look(ctx context.Context, con *console, form outputForm, show func(con *console) error) error {
	if f.Watch == 0 {
		return show(con)
	}
	w := &watcher{con: con, form: form, show: show}
	state, err := w.look()
	if err != nil {
		return unlessEnded(ctx, err)
	}
	if con.screen.isTerminal {
		w.openScreen()
		defer w.closeScreen()
	}
	w.draw(state, nil)
	ticker := time.NewTicker(time.Duration(f.Watch))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		state, err := w.look()
		if ctx.Err() != nil {
			return nil
		}
		w.draw(state, err)
	}
}

// unlessEnded is an error, but for that of something that was ended on purpose.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watcher shows the states of something as they change.
type watcher struct {
	con  *console
	form outputForm
	show func(con *console) error

	last    []byte // state that was drawn last; nil: none was
	failure string // that was told last
}

// look returns the present state as it would be printed.
func (w *watcher) look() ([]byte, error) {
	var state bytes.Buffer
	con := &console{in: w.con.in, out: &state, err: w.con.err, screen: w.con.screen}
	err := w.show(con)
	return state.Bytes(), err
}

// draw shows a state, or why there is none.
func (w *watcher) draw(state []byte, err error) {
	if w.con.screen.isTerminal {
		w.redraw(state, err)
		return
	}
	failure := ""
	if err != nil {
		failure = explain(err)
	}
	if failure != "" && failure != w.failure {
		w.con.notef("carillon: %s\n", failure)
	}
	if w.failure = failure; err != nil || bytes.Equal(state, w.last) {
		return
	}
	if w.last != nil {
		w.con.printf("%s", w.separator())
	}
	w.con.printf("%s", state)
	w.last = state
}

// separator stands between two states where they are printed one after the other.
func (w *watcher) separator() string {
	switch w.form {
	case formYAML:
		return "---\n"
	case formJSON:
		return ""
	}
	return "\n"
}
