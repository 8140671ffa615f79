package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"github.com/carillon-io/carillon/terminal"
)

// The times between two polls of --watch.
const (
	watchDefault = 2 * time.Second
	// Each poll is a request to the server, which must not be loaded by displays.
	watchMin = 200 * time.Millisecond
)

// watchRowsMax bounds a list that is watched: each state is held in memory, to be compared with the next.
const watchRowsMax = 1000

// watchFlag makes a command poll and show each new state. A command that has it prints into a buffer, see watcher,
// and must not write to the standard output by itself.
type watchFlag struct {
	Watch watchEvery `short:"w" help:"Poll every 2s until Ctrl-C and show each new state; --watch=SPAN for another time, at least 200ms."`
}

// watchEvery is the time between two polls; 0: the command shows the state once.
type watchEvery time.Duration

// Decode implements kong.MapperValue: the flag stands alone, or has a value after an equal sign.
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

// IsBool implements kong.BoolMapperValue. It lets the flag stand without a value.
func (*watchEvery) IsBool() bool { return true }

// rows returns the limit on the rows of a list, which is bounded if it is watched; 0 is no limit.
func (f *watchFlag) rows(limit int) int {
	if f.Watch > 0 && (limit <= 0 || limit > watchRowsMax) {
		return watchRowsMax
	}
	return limit
}

// lookAt connects to a server, and does with the connection what look does.
func (f *watchFlag) lookAt(ctx context.Context, con *console, at *remoteFlags, form outputForm, show func(*console, *remote) error) error {
	r, err := at.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	return f.look(ctx, con, form, func(con *console) error { return show(con, r) })
}

// look calls show once, or polls it until ctx ends. If the first poll fails, the command fails; later failures are
// reported, and polling goes on. A first failure is most likely a wrong flag; a later one may pass.
func (f *watchFlag) look(ctx context.Context, con *console, form outputForm, show func(con *console) error) error {
	if f.Watch == 0 {
		return show(con)
	}
	w := &watcher{con: con, form: form, show: show}
	state, err := w.look()
	if err != nil {
		return unlessEnded(ctx, err)
	}
	// Only after a poll has succeeded, so that an error stays on the usual screen.
	if con.screen.IsTerminal {
		con.printf(terminal.Enter)
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

// unlessEnded returns err, or nil if ctx has ended: Ctrl-C is no failure.
func unlessEnded(ctx context.Context, err error) error {
	// A poll that Ctrl-C has interrupted is no failure, and not drawn.
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watcher shows each new state of what is watched. It compares printed text, so it works for every command alike.
type watcher struct {
	con  *console
	form outputForm
	// show prints the whole state into the console that it gets.
	show func(con *console) error

	last    []byte // state that was shown last; nil: none was
	failure string // that was reported last; "": the last poll succeeded
}

// look polls: it returns the present state as text.
func (w *watcher) look() ([]byte, error) {
	var state bytes.Buffer
	con := &console{in: w.con.in, out: &state, err: w.con.err, screen: w.con.screen}
	err := w.show(con)
	return state.Bytes(), err
}

// draw shows a state, or why the poll failed. On a terminal it redraws everything; elsewhere it prints what has
// changed. A failure that repeats is reported once; the last good state stays on the screen.
func (w *watcher) draw(state []byte, err error) {
	if w.con.screen.IsTerminal {
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
	// A poll that fails prints no state, and a state that is the same is not printed twice.
	if w.failure = failure; err != nil || bytes.Equal(state, w.last) {
		return
	}
	if w.last != nil {
		w.con.printf("%s", markup(w.separator()))
	}
	w.con.printf("%s", state)
	w.last = state
}

// closeScreen restores the terminal and prints the last state on it.
func (w *watcher) closeScreen() { w.con.printf(terminal.Leave+"%s", w.last) }

// redraw draws a state over the previous one. If the poll failed, the previous state stays, with the reason below it.
func (w *watcher) redraw(state []byte, err error) {
	screen := &w.con.screen
	screen.Width, screen.Height = terminal.Size(w.con.out)
	note := screen.Paint(terminal.Dim, time.Now().Format(time.TimeOnly)+", Ctrl-C ends")
	if err != nil {
		state = w.last
		note = screen.Paint(terminal.Red, terminal.Printable(explain(err)))
	}
	w.last = state
	w.con.printf("%s", markup(terminal.Frame(state, note, screen.Height)))
}

// separator returns what is printed between two states if the output is no terminal.
func (w *watcher) separator() string {
	switch w.form {
	case formYAML:
		return "---\n"
	case formJSON:
		return ""
	}
	return "\n"
}
