package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// LineEvery is the time between two lines of a Progress without a bar, and before the first. The lines often end in the
// log of a build, where a shorter interval would bury other output. Work that takes less writes only the line of End.
const LineEvery = 2 * time.Second

const (
	// barAfter is how long work takes before a bar appears: a bar that vanishes at once only flickers.
	barAfter = 500 * time.Millisecond
	// barEvery is the time between two drawings of a bar. It bounds what the drawing costs the work.
	barEvery = 100 * time.Millisecond
	// barWidth is in columns. It leaves more than half of 80 columns for the text behind the bar.
	barWidth = 24
)

// Progress shows how far a long piece of work is: on a terminal by a bar on the last line, elsewhere by a line now and
// then. A writer has one Progress at a time; whatever else is written to it, or to the same terminal, calls Clear
// first. Failures to write are ignored, because the work matters more than its display. Not for concurrent use. Make
// one with NewProgress.
//
// There is no goroutine that draws: the work itself draws when it calls Of. So nothing is written while the work stands
// still, and nothing has to be stopped.
type Progress struct {
	Bar    bool // show a bar; NewProgress sets it if the writer is a terminal that knows escape sequences
	Silent bool // show neither bar nor lines; End still writes

	w              io.Writer          // usually the standard error, so that the output stays clean
	done           string             // what is done, such as "imported"
	show           func(int64) string // a number of what it is done to, such as "12 jobs"
	started, shown time.Time          // when the work began, and when a bar or a line was last written
	drawn          bool               // the bar is on the last line
}

// NewProgress begins a piece of work: done is what happens to its things, such as "imported", and show says a number of
// them, such as "12 jobs". Nothing is written yet.
func NewProgress(w io.Writer, done string, show func(n int64) string) *Progress {
	now := time.Now()
	return &Progress{Bar: IsTerminal(w) && !isDumb(), w: w, done: done, show: show, started: now, shown: now}
}

// Of reports that n of all are done; all is 0 if it is unknown. It can be called as often as n changes: it writes only
// when something is due.
func (p *Progress) Of(n, all int64) {
	now := time.Now()
	if p.Silent || !p.isDue(now) {
		return
	}
	p.shown = now
	text := p.text(n, all, now.Sub(p.started))
	if !p.Bar {
		_, _ = fmt.Fprintf(p.w, "%s\n", text)
		return
	}
	text = barText(n, all) + text
	// One column stays free: a character in the last one makes some terminals go to the next line, and the
	// carriage return of the next drawing would then leave the old bar above. The size is asked for each
	// time, because the window may have been resized.
	if width, _ := Size(p.w); width > 1 {
		text = Cut(text, width-1)
	}
	_, _ = fmt.Fprintf(p.w, "\r%s%s", text, clearLine)
	p.drawn = true
}

// isDue reports whether Of is to write at now.
func (p *Progress) isDue(now time.Time) bool {
	switch {
	case !p.Bar:
		return now.Sub(p.shown) >= LineEvery
	case !p.drawn:
		return now.Sub(p.started) >= barAfter && now.Sub(p.shown) >= barEvery
	default:
		return now.Sub(p.shown) >= barEvery
	}
}

// End removes the bar and writes a line that says how many were done, even if the Progress is Silent. Work that fails
// calls Clear instead, and reports its error.
func (p *Progress) End(n int64) {
	p.Clear()
	_, _ = fmt.Fprintf(p.w, "%s %s\n", p.show(n), p.done)
}

// Clear removes the bar, if there is one, and leaves the cursor at the beginning of its line. The next Of can draw it
// again.
func (p *Progress) Clear() {
	if p.drawn {
		p.drawn = false
		_, _ = io.WriteString(p.w, "\r"+clearLine)
	}
}

// Reader returns a reader that reads from r and reports the bytes: out of the size of r if r is a regular file. A pipe
// has no size. The bar is removed when r ends or fails, so that the caller need not call Clear.
func (p *Progress) Reader(r io.Reader) io.Reader {
	m := &progressReader{r: r, progress: p}
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			m.all = info.Size()
		}
	}
	return m
}

// progressReader is the reader that Progress.Reader returns.
type progressReader struct {
	// r is not closed by it.
	r        io.Reader
	progress *Progress
	n, all   int64 // bytes read so far, and the size of r; 0 if that is unknown
}

// Read implements io.Reader.
func (m *progressReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n += int64(n)
	if err != nil {
		m.progress.Clear()
		return n, err
	}
	m.progress.Of(m.n, m.all)
	return n, nil
}

// text says how far the work is, how fast it goes and how long the rest will take. The rate is the mean since the
// start: a rate of the last moments would make the estimate jump with each drawing.
func (p *Progress) text(n, all int64, took time.Duration) string {
	rate := float64(n) / took.Seconds()
	if all <= 0 {
		return fmt.Sprintf("%s %s so far, %s a second", p.show(n), p.done, p.show(int64(rate)))
	}
	text := fmt.Sprintf("%s of %s %s, %s a second", p.show(n), p.show(all), p.done, p.show(int64(rate)))
	if left := float64(all-n) / rate; n > 0 && left >= 1 {
		text += ", " + Span(time.Duration(left)*time.Second) + " left"
	}
	return text
}

// barText draws how much of all is done; nothing if all is unknown.
func barText(n, all int64) string {
	if all <= 0 {
		return ""
	}
	share := min(max(float64(n)/float64(all), 0), 1)
	full := int(share * barWidth)
	return fmt.Sprintf("[%s%s] %3d%%  ", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), int(share*100))
}
