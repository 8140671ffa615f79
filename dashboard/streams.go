package dashboard

import (
	"container/list"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/carillon-io/carillon/client"
)

// streams are the open streams, and share their places among tenants. Use newStreams. Safe for concurrent use. A stream
// may stay open for minutes without doing anything, so a bound alone would let the first tenant that comes keep all others
// out. When all places are taken, a tenant that has fewer streams than another takes the place of the oldest stream of the
// one that has most; its browser opens another when there is room.
//
// Invariant: open is the sum of the lengths of byTenant, which has no empty lists.
type streams struct {
	mu       sync.Mutex
	most     int
	open     int
	byTenant map[string]*list.List // of *streamPlace, the oldest first
}

// streamPlace is the place of one stream.
type streamPlace struct {
	tenant  string
	end     func() // ends the stream, whose place another takes
	element *list.Element
}

func newStreams(most int) *streams {
	return &streams{most: most, byTenant: make(map[string]*list.List)}
}

// take takes a place for a stream of a tenant; nil if the tenant has its share. It calls end if another tenant takes the
// place.
func (s *streams) take(tenant string, end func()) *streamPlace {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.most && !s.makeRoomLocked(tenant) {
		return nil
	}
	of := s.byTenant[tenant]
	if of == nil {
		of = list.New()
		s.byTenant[tenant] = of
	}
	p := &streamPlace{tenant: tenant, end: end}
	p.element = of.PushBack(p)
	s.open++
	return p
}

// makeRoomLocked ends the oldest stream of the tenant with most of them, if that has at least two more than the given one.
func (s *streams) makeRoomLocked(tenant string) bool {
	mine, largest := 0, (*list.List)(nil)
	for name, of := range s.byTenant {
		if name == tenant {
			mine = of.Len()
		}
		if largest == nil || of.Len() > largest.Len() {
			largest = of
		}
	}
	if largest == nil || largest.Len() < mine+2 {
		return false
	}
	p := largest.Front().Value.(*streamPlace)
	s.removeLocked(p)
	p.end()
	return true
}

// free frees a place. It does nothing if another tenant has taken it.
func (s *streams) free(p *streamPlace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(p)
}

func (s *streams) removeLocked(p *streamPlace) {
	if p.element == nil {
		return
	}
	of := s.byTenant[p.tenant]
	of.Remove(p.element)
	p.element = nil
	if of.Len() == 0 {
		delete(s.byTenant, p.tenant)
	}
	s.open--
}

// count returns the number of open streams.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// openStream takes a place for the stream of a visit, in the quota and in the share of its tenant, or refuses it with a
// [*client.Error]. Only a reader with a role in the tenant may use up what it has: some pages can be read without, and the
// address alone names the tenant. It calls end if another tenant takes the place; the caller calls free, once.
func (d *Dashboard) openStream(v *visit, end func()) (free func(), err error) {
	if !v.reader.hasRole(v.tenant) {
		return nil, refusal(client.CodeForbidden, http.StatusForbidden, "%s has no role in the tenant %s, and no stream of its pages", v.reader.Name, v.tenant)
	}
	done, err := d.opts.OpenStream(v.tenant)
	if err != nil {
		return nil, err
	}
	place := d.streams.take(d.partyOf(v.tenant), end)
	if place == nil {
		done()
		return nil, refusal(client.CodeUnavailable, http.StatusServiceUnavailable,
			"all %d streams are open, and the tenant %s has its share of them; the page works without, but does not update itself", streamsMax, v.tenant)
	}
	return func() {
		d.streams.free(place)
		done()
	}, nil
}

// partyOf returns the tenant by which places are shared.
func (d *Dashboard) partyOf(tenant string) string {
	if d.opts.Rights == nil {
		return tenant
	}
	return d.opts.Rights.PartyOf(tenant)
}

// refuseStream answers a request for a stream with an error, in the form of the API.
func (d *Dashboard) refuseStream(rw http.ResponseWriter, err error) {
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Status == 0 {
		e = refusal(client.CodeInternal, http.StatusInternalServerError, "internal error; the server's log has the details")
	}
	if e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests {
		rw.Header().Set("Retry-After", streamBusyAfter)
	}
	sendError(rw, e)
}

// sendError sends an error in the form of the API.
func sendError(rw http.ResponseWriter, e *client.Error) {
	body, err := json.Marshal(client.ErrorReply{Error: e})
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"internal error"}}`)
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(e.Status)
	_, _ = rw.Write(append(body, '\n')) // the caller has gone if this fails
}
