package job

import "strings"

// Lane identifies the places that attempts share: those of one tenant at one target. Jobs with the same target and
// the same number of places share a lane; another number makes another lane. It is comparable. The tenant is part of
// it, so that one tenant's slow target takes no places from another tenant.
type Lane struct {
	Tenant string
	Kind   TargetKind
	Name   string // the origin of a URL, a subject or a handler; "" for kind nats, whose targets share a lane
	Limit  uint32 // number of places; 0 means the sender's default
}

// Lane returns the lane of an attempt.
func (d *Delivery) Lane() Lane {
	l := Lane{Tenant: d.Tenant, Kind: d.Target.Kind}
	if l.Kind != TargetNATS {
		l.Name, l.Limit = d.Target.Site(), d.Target.MaxInFlight
	}
	return l
}

// Site returns a subject, a handler, or the scheme and host of a URL in lower case: what the places of a target
// belong to. It is safe in error texts. The paths and queries of webhooks are not, because they are often secrets.
// The paths of one host share their places, because they share the server that a flood would reach. A URL that is a
// secret has places of its own: its host is as secret as the rest.
func (t Target) Site() string {
	if t.Kind == TargetHTTP && t.URLSecret == "" {
		return origin(t.URL)
	}
	return t.Address()
}

// origin returns the scheme and host of a URL, without a user. It does not parse the URL: an odd URL only gets an odd
// lane.
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
