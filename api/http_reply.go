package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// thing is what HTTP headers say about the job or calendar in a reply.
type thing struct {
	version uint32 // 0: it has none
	path    string // of a created one; "" if none was created
}

// thingOf describes the job or calendar in a reply.
func thingOf(reply any) (t thing) {
	switch reply := reply.(type) {
	case *jobText:
		t.version = reply.version
		if reply.created {
			t.path = pathTo("jobs", reply.name)
		}
	case *client.CalendarReply:
		t.version = reply.Calendar.Version
	case *client.CalendarPutReply:
		t.version = reply.Calendar.Version
		if reply.Created {
			t.path = pathTo("calendars", reply.Calendar.Name)
		}
	}
	return t
}

// answer sends a reply, with the version of the thing that it shows and the location of the one that it created.
func (w *web) answer(rw http.ResponseWriter, req *http.Request, reply any, text []byte) {
	t, h, status := thingOf(reply), rw.Header(), http.StatusOK
	if t.version != 0 {
		tag := `"` + strconv.FormatUint(uint64(t.version), 10) + `"`
		h.Set("ETag", tag)
		isRead := req.Method == http.MethodGet || req.Method == http.MethodHead
		if isRead && isAmong(tag, req.Header.Get("If-None-Match")) {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if t.path != "" {
		h.Set("Location", t.path)
		status = http.StatusCreated
	}
	w.send(rw, status, text)
}

// isAmong reports whether a list contains a tag; * means any tag.
func isAmong(tag, list string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

// stateLagOverHTTP adds the lag to a standby's reply, as over NATS.
func (s *Service) stateLagOverHTTP(h http.Header) {
	stated := nats.Header{}
	s.stateLag(stated)
	for name, values := range stated {
		h[http.CanonicalHeaderKey(name)] = values
	}
}
