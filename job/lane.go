package job

import "strings"

// Lane names the places that attempts share: those of one tenant at one target. Jobs that name the same
// target and the same number of places share a lane; another number is another lane.
type Lane struct {
	Tenant string
	Kind   TargetKind
	Name   string // the origin of a URL, a subject or a handler; "" of kind nats, whose targets share a lane
	Limit  uint32 // how many places there are; 0 is what the sender has for a target
}

// Lane returns the lane of an attempt.
func (d *Delivery) Lane() Lane {
	l := Lane{Tenant: d.Tenant, Kind: d.Target.Kind}
	if l.Kind != TargetNATS {
		l.Name, l.Limit = d.Target.Site(), d.Target.MaxInFlight
	}
	return l
}

// Site returns what the places of a target are at: a subject, a handler, or the scheme and host of a URL in
// lower case. It is fit for error texts, which the paths and queries of webhooks are not: these are often
// secrets.
func (t Target) Site() string {
	if t.Kind == TargetHTTP {
		return origin(t.URL)
	}
	return t.Address()
}

// origin returns the scheme and host of a URL, without a user. It does not parse it: an odd URL only gets an
// odd lane.
func origin(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		url = url[:len(scheme)+len("://")+end]
	}
	if at := strings.LastIndexByte(url, '@'); at >= 0 {
		url = scheme + "://" + url[at+1:]
	}
	return strings.ToLower(url)
}
