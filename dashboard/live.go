package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// livePath is where the stream of a page is; the parameter page is the address of the page.
const livePath = "/live"

// The bounds of the streams.
const (
	streamsMax      = 64               // open at a time; a page without one works, and stands still
	streamAge       = 5 * time.Minute  // then the browser opens another
	streamEvery     = time.Second      // between two looks
	streamShare     = 20               // a stream rests so many times as long as it works
	streamHeartbeat = 15 * time.Second // between two signs of life
	streamPatience  = 5 * time.Second  // for a reader to take what was sent
	streamBusyAfter = "10"             // seconds until a browser that found no place tries again
)

// fragment is an element of a page, to take the place of the one with its id.
type fragment struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// pageParam is the query of the stream of a visited page.
func pageParam(v *visit) string {
	q := url.Values{}
	for name, values := range v.query {
		if name != "notice" && name != "n" {
			q[name] = values
		}
	}
	return url.Values{"page": {v.path + "?" + q.Encode()}}.Encode()
}

// stream sends what changes on one page to one browser.
type stream struct {
	dashboard *Dashboard
	req       *http.Request
	page      *url.URL
	make      func(*visit) view
	out       http.ResponseWriter
	conn      *http.ResponseController
	sent      map[string]string // text of each fragment, by its id
	spoke     time.Time
}

// serveLive sends the live parts of a page whenever they have changed, until the reader goes, the stream is
// old enough, or the server is shut down.
func (d *Dashboard) serveLive(rw http.ResponseWriter, req *http.Request) {
	to, err := url.Parse(req.URL.Query().Get("page"))
	if err != nil || to.Host != "" || pages[to.Path] == nil {
		d.serveLost(rw, req, http.StatusNotFound)
		return
	}
	select {
	case d.streams <- struct{}{}:
	default:
		rw.Header().Set("Retry-After", streamBusyAfter)
		http.Error(rw, "as many streams are open as are allowed; the page works without", http.StatusServiceUnavailable)
		return
	}
	defer func() { <-d.streams }()
	s := &stream{
		dashboard: d, req: req, page: to, make: pages[to.Path], out: rw, conn: http.NewResponseController(rw),
		sent: make(map[string]string), spoke: time.Now(),
	}
	if err := s.run(); err != nil {
		d.opts.Logger.Debug("a stream has ended", slog.String("page", to.Path), slog.Any("error", err))
	}
}

// run looks at the page again and again. It rests longer if the page is expensive.
func (s *stream) run() error {
	s.out.Header().Set("Content-Type", "text/event-stream")
	s.out.Header().Set("X-Accel-Buffering", "no") // for proxies, which would keep what is sent
	_ = s.conn.SetReadDeadline(time.Time{})       // else the server's bound for a request ends the stream
	if err := s.write("retry: 2000\n\n"); err != nil {
		return err
	}
	end := time.NewTimer(streamAge)
	defer end.Stop()
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			begun := time.Now()
			if err := s.look(); err != nil {
				return err
			}
			look.Reset(max(streamEvery, streamShare*time.Since(begun)))
		case <-end.C:
			return nil
		case <-s.dashboard.closed:
			return nil
		case <-s.req.Context().Done():
			return nil
		}
	}
}

// look sends what has changed since the last look.
func (s *stream) look() error {
	changed, err := s.changes()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, f := range changed {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		b.WriteString("event: fragment\ndata: ")
		b.Write(text)
		b.WriteString("\n\n")
	}
	if b.Len() == 0 && time.Since(s.spoke) > streamHeartbeat {
		b.WriteString(": still here\n\n")
	}
	if b.Len() == 0 {
		return nil
	}
	return s.write(b.String())
}

// changes makes the live parts of the page, and returns those with another text than before. A page that
// cannot be read just now has none.
func (s *stream) changes() ([]fragment, error) {
	v := s.dashboard.visitTo(s.req, s.page)
	p := v.open(s.make)
	if p.err != nil {
		return nil, s.gone(p.err)
	}
	frame := v.frame(&p)
	var list []fragment
	for _, id := range p.live {
		var b bytes.Buffer
		if err := templates[p.page].ExecuteTemplate(&b, id, frame); err != nil {
			return nil, err
		}
		if text := strings.TrimSpace(b.String()); text != s.sent[id] {
			s.sent[id] = text
			list = append(list, fragment{id, text})
		}
	}
	return list, nil
}

// gone returns an error if a page will not come back, such as that of a job that was deleted.
func (s *stream) gone(err error) error {
	if client.IsUnavailable(err) {
		return nil
	}
	return errors.Join(errors.New("the page cannot be read"), err)
}

// write sends text, and gives the reader a while to take it.
func (s *stream) write(text string) error {
	s.spoke = time.Now()
	if err := s.conn.SetWriteDeadline(s.spoke.Add(streamPatience)); err != nil {
		return err
	}
	if _, err := s.out.Write([]byte(text)); err != nil {
		return err
	}
	return s.conn.Flush()
}
