package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// The rhythm of progress. On a terminal a bar appears when a command takes longer than barAfter, and moves
// every barEvery; elsewhere a line is told every progressAfter.
const (
	progressAfter = 2 * time.Second
	barAfter      = 500 * time.Millisecond
	barEvery      = 100 * time.Millisecond
	barWidth      = 24 // in characters
)

// progress tells how far a long command is, on the standard error: a terminal gets a bar that moves in its
// place, everything else a line every few seconds. Not for concurrent use.
type progress struct {
	con           *console
	show          func(n int64) string // a count, such as "12 jobs"
	done          string               // what is done to them
	started, told time.Time
	isBar, silent bool
}

// newProgress begins to tell of things, such as runs, to which something is done, such as retried.
func newProgress(con *console, noun, done string) *progress {
	return startProgress(con, done, func(n int64) string { return showCount(int(n)) + " " + nounFor(n, noun) })
}

// newByteProgress begins to tell of bytes to which something is done, such as fetched.
func newByteProgress(con *console, done string) *progress {
	return startProgress(con, done, formatBytes)
}

func startProgress(con *console, done string, show func(int64) string) *progress {
	p := &progress{con: con, show: show, done: done, started: time.Now()}
	p.told = p.started
	p.isBar = isTerminal(con.err) && os.Getenv("TERM") != "dumb"
	return p
}

// besideOutput keeps silent if the standard output is a terminal: what streams there shows how far it is.
func (p *progress) besideOutput() *progress {
	p.silent = p.con.screen.isTerminal
	return p
}

// tell says that so many are done, of a number that is not known.
func (p *progress) tell(n int) { p.of(int64(n), 0) }

// of says that so many of all are done, unless it said so a short while ago; all is 0 if it is not known.
func (p *progress) of(n, all int64) {
	now := time.Now()
	if p.silent || !p.isDue(now) {
		return
	}
	p.told = now
	text := progressText(n, all, now.Sub(p.started), p.show, p.done)
	if !p.isBar {
		p.con.notef("%s\n", text)
		return
	}
	text = progressBar(n, all) + text
	if width, _ := terminalSize(p.con.err); width > 1 {
		text = cutText(text, width-1)
	}
	_, _ = fmt.Fprintf(p.con.err, "\r%s\x1b[K", text)
	p.con.bar = p
}

func (p *progress) isDue(now time.Time) bool {
	switch {
	case !p.isBar:
		return now.Sub(p.told) >= progressAfter
	case p.con.bar == nil:
		return now.Sub(p.started) >= barAfter && now.Sub(p.told) >= barEvery
	default:
		return now.Sub(p.told) >= barEvery
	}
}

// end takes the bar away and says how many were done in all.
func (p *progress) end(n int) { p.con.notef("%s %s\n", p.show(int64(n)), p.done) }

// clearBar takes the bar away, if there is one, so that something else can be written in its place.
func (c *console) clearBar() {
	if c.bar != nil {
		c.bar = nil
		_, _ = io.WriteString(c.err, "\r\x1b[K")
	}
}

// progressText says how far something is, how fast it goes, and how long it will take.
func progressText(n, all int64, took time.Duration, show func(int64) string, done string) string {
	rate := float64(n) / took.Seconds()
	if all <= 0 {
		return fmt.Sprintf("%s %s so far, %s a second", show(n), done, show(int64(rate)))
	}
	text := fmt.Sprintf("%s of %s %s, %s a second", show(n), show(all), done, show(int64(rate)))
	if left := float64(all-n) / rate; n > 0 && left >= 1 {
		text += ", " + showLength(time.Duration(left)*time.Second) + " left"
	}
	return text
}

// progressBar draws how much of all is done; nothing if that is not known.
func progressBar(n, all int64) string {
	if all <= 0 {
		return ""
	}
	share := min(max(float64(n)/float64(all), 0), 1)
	full := int(share * barWidth)
	return fmt.Sprintf("[%s%s] %3d%%  ", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), int(share*100))
}

// measuredReader tells how much of a file was read.
type measuredReader struct {
	r        io.Reader
	progress *progress
	n, all   int64
}

// measured returns a reader that tells how far it is. What is no regular file has no size.
func (c *console) measured(r io.Reader, done string) *measuredReader {
	m := &measuredReader{r: r, progress: newByteProgress(c, done)}
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			m.all = info.Size()
		}
	}
	return m
}

// Read implements io.Reader.
func (m *measuredReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n += int64(n)
	if err != nil {
		m.progress.con.clearBar()
		return n, err
	}
	m.progress.of(m.n, m.all)
	return n, nil
}
