package web

import (
	"github.com/carillon-io/carillon/api"
	"net/http"
	"strconv"
	"strings"
)

// answer sends a reply, with the version of the thing that it shows and the location of the one that it created. The
// tag is the version of the definition and not a hash of the reply: next_run_at and last_run change while the version
// stays, so a 304 says only that the definition is the same. A 304 is answered after the verb has read the job, so
// it saves the transfer and not the work.
func (w *gateway) answer(rw http.ResponseWriter, req *http.Request, reply api.Reply) {
	h, status := rw.Header(), http.StatusOK
	version, collection, created := reply.Thing()
	if version != 0 {
		tag := `"` + strconv.FormatUint(uint64(version), 10) + `"`
		h.Set("ETag", tag)
		if isRead(req) && isAmong(tag, req.Header.Get("If-None-Match")) {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if created != "" {
		h.Set("Location", pathTo(collection, created))
		status = http.StatusCreated
	}
	w.send(rw, status, reply.Text)
}

// isAmong reports whether a list contains a tag; * means any tag. The comparison is weak, as If-None-Match demands
// (RFC 9110, section 13.1.2).
func isAmong(tag, list string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}
