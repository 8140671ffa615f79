package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// livePath is the path of the streams. Its parameter page is the address of the page.
const livePath = "/live"

// markID is the live element of every page: the node with its role and the number of concerns.
const markID = "mark"

// The bounds of the streams.
const (
	streamsMax      = 64               // open at a time, which the tenants share; a page without a stream works but does not update itself
	streamAge       = 5 * time.Minute  // the longest life of a stream; then the browser opens another
	streamEvery     = time.Second      // between two polls of the page
	streamShare     = 20               // a stream pauses at least this many times as long as a poll takes
	streamHeartbeat = 15 * time.Second // between two messages, so that the browser sees that the stream is alive
	streamPatience  = 5 * time.Second  // for the browser to receive what was sent
	streamBusyAfter = "10"             // seconds after which a browser tries again if too many streams are open
)

// fragment is an element of a page, which replaces the element with the same id. HTML is the whole element. Patches
// of its parts would be smaller and would need a second rendering in the browser.
type fragment struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// pageParam returns the query of the stream for a page. The notice is left out, because it belongs to one visit and
// not to the page.
func pageParam(v *visit) string {
	q := url.Values{}
	for name, values := range v.query {
		if name != "notice" && name != "n" {
			q[name] = values
		}
	}
	return url.Values{"page": {v.path + "?" + q.Encode()}}.Encode()
}

// stream sends the changes of one page to one browser as server-sent events. It keeps the last text of each fragment
// and sends only fragments whose text has changed, so an idle page costs no traffic except the heartbeat. It belongs
// to the goroutine of its request. sent holds one text for each live fragment of the page, so its memory is that of
// one page.
type stream struct {
	dashboard *Dashboard
	// req is the request of the stream; page is the address that it names. The context of req ends with the stream.
	req  *http.Request
	page *url.URL
	// shown is the page, the same that answers its GET.
	shown page
	out   http.ResponseWriter
	conn  *http.ResponseController
	sent  map[string]string // the last text of each fragment, by its id
	// spoke is when the stream last wrote, for the heartbeat.
	spoke time.Time
}

// serveLive sends the live parts of a page whenever they have changed, until the browser disconnects, the stream
// reaches its age, or the server shuts down. The parameter names a page of this dashboard or nothing: a URL with a
// host is refused, and only the table of pages is looked into. Pages that are not live have no stream.
func (d *Dashboard) serveLive(rw http.ResponseWriter, req *http.Request) {
	to, err := url.Parse(req.URL.Query().Get("page"))
	if err != nil || to.Host != "" || !pages[to.Path].isLive {
		d.serveLost(rw, req, http.StatusNotFound)
		return
	}
	ctx, end := context.WithCancel(req.Context())
	defer end()
	s := &stream{
		dashboard: d, req: req.WithContext(ctx), page: to, shown: pages[to.Path], out: rw, conn: http.NewResponseController(rw),
		sent: make(map[string]string), spoke: time.Now(),
	}
	// The page is read once before the stream has a place, so that a reader who may not read it takes none; and the place
	// is taken before anything is sent, so that a refusal still has a status.
	first, err := s.changes()
	if err != nil {
		d.refuseStream(rw, err)
		return
	}
	free, err := d.openStream(d.visitTo(req, to), end)
	if err != nil {
		d.refuseStream(rw, err)
		return
	}
	defer free()
	if err := s.run(first); err != nil {
		d.opts.Logger.Debug("a stream has ended", slog.String("page", to.Path), slog.Any("error", err))
	}
}

// run polls the page until the stream ends. It pauses longer if a poll takes long, so that expensive pages do not
// load the server. With the pause in proportion, one stream uses at most about a twentieth of a processor, whatever
// its page costs.
func (s *stream) run(first []fragment) error {
	s.out.Header().Set("Content-Type", "text/event-stream")
	s.out.Header().Set("X-Accel-Buffering", "no") // for proxies, which would keep what is sent
	_ = s.conn.SetReadDeadline(time.Time{})       // otherwise the server's time limit for a request would end the stream
	if err := s.write("retry: 2000\n\n"); err != nil {
		return err
	}
	end := time.NewTimer(streamAge)
	defer end.Stop()
	if err := s.tell(first); err != nil {
		return err
	}
	look := time.NewTimer(streamEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			begun := time.Now()
			if err := s.poll(); err != nil {
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

// poll sends what has changed since the last poll.
func (s *stream) poll() error {
	changed, err := s.changes()
	if err != nil {
		return err
	}
	return s.tell(changed)
}

// tell sends fragments. All changes of one poll are one write, so that the browser shows them together.
func (s *stream) tell(changed []fragment) error {
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

// changes renders the live parts of the page, and returns those whose text has changed. If the page cannot be read at
// the moment, it returns none. The text is compared and not the data, because what a reader sees is the text: a time
// such as "3 s ago" changes without any data.
func (s *stream) changes() ([]fragment, error) {
	v := s.dashboard.visitTo(s.req, s.page)
	p := v.open(s.shown)
	// A page with an error is not sent: the browser keeps the last good state.
	if p.err != nil {
		return nil, s.gone(p.err)
	}
	frame := v.frame(&p)
	var list []fragment
	for _, id := range append([]string{markID}, p.live...) {
		var b bytes.Buffer
		if err := templates()[p.page].ExecuteTemplate(&b, id, frame); err != nil {
			return nil, err
		}
		if text := strings.TrimSpace(b.String()); text != s.sent[id] {
			s.sent[id] = text
			list = append(list, fragment{id, text})
		}
	}
	return list, nil
}

// gone returns an error if the page no longer exists, as after the deletion of its job; nil if the error
// may pass.
func (s *stream) gone(err error) error {
	if client.IsUnavailable(err) {
		return nil
	}
	return errors.Join(errors.New("the page cannot be read"), err)
}

// write sends text. It fails if the browser does not receive it within streamPatience. The deadline frees the place
// of a browser that has gone to sleep without closing its connection.
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
