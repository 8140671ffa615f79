package api

import (
	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/seal"
)

// Headers of a request that a node passes on, and of the leader's reply to it. The request has seal.Header as well.
const (
	forwardHeader = "Carillon-Forward"    // request: a forwarded, as JSON
	partsHeader   = "Carillon-Parts-To"   // reply: where the parts of the body are expected
	versionHeader = "Carillon-Version"    // reply: the version of the thing that it shows
	createdHeader = "Carillon-Created-As" // reply: the collection of the thing that was created, a slash, and its name
)

// forwardHeaderBytes is the part of the largest message that is reserved for the headers of a request: a forwarded
// with the longest texts, the seal and the trace.
const forwardHeaderBytes = 5 << 10

// forwarded is what a node says about a request that it passes on. The leader believes it, because only nodes may
// send such requests. Whatever else has to be known about a caller belongs here; a leader that does not know a member
// refuses the request, so that an older one never ignores a restriction.
type forwarded struct {
	By   string `json:"by,omitempty"`
	From string `json:"from"`           // how the request came to the node: http, dashboard or nats
	Host string `json:"host,omitempty"` // of the caller; its share of the rooms depends on it
	// Principal is the caller as the node has recognized it, and Means by what. Role is the one that the node's file of
	// rights gives it in the tenant of the request. The leader decides by its own file what the principal may do, and
	// permits no more than Role: the files may differ while they are replaced. A person who is several principals has their
	// names, with commas between.
	Principal string       `json:"principal,omitempty"`
	Means     string       `json:"means,omitempty"`
	Role      *access.Role `json:"role,omitempty"` // nil: the node has no rights
	// Granted says that NATS permitted the caller the subjects of the tenant, so that it has all rights there.
	Granted bool `json:"granted,omitzero"`

	// Part says that the request is one of several that a request of the caller became. The node has counted that one
	// against the rate of the tenant, and the leader does not count it again.
	Part bool `json:"part,omitzero"`
	// PageBytes is how large a page may become once it has an entry; 0: as large as a message.
	PageBytes int `json:"page_bytes,omitzero"`

	TimeoutMS int64 `json:"timeout_ms"`          // how long the leader may work on it, in milliseconds, from 1
	BodyBytes int   `json:"body_bytes,omitzero"` // of a body that comes in parts; 0: the message has it whole
}

// forwardedOf returns what a leader has to know about a request, without the time for it.
func forwardedOf(q *Request) forwarded {
	about := forwarded{
		By: q.Asker.By, From: q.Asker.From, Host: q.Host, Means: q.Who.Means, Granted: q.Who.Tenant != "",
		Part: q.isPart, PageBytes: q.pageBytes,
	}
	if q.Who.Principal != nil {
		role := q.Who.RoleIn(q.Tenant)
		about.Principal, about.Role = q.Who.Name, &role
	}
	return about
}

// whoIn returns the caller of a request in a tenant, as the rights of this node have it.
func (a *forwarded) whoIn(tenant string, rights *access.Keeper) access.Who {
	if a.Granted && rights != nil {
		return access.Who{Tenant: tenant, Means: a.Means, Most: a.Role}
	}
	who := rights.Known(a.Principal, a.Means)
	who.Most = a.Role
	return who
}

// forwardFrom are the origins that a node may name.
var forwardFrom = map[string]bool{"http": true, "dashboard": true, "nats": true}

// Bounds of what a node may say. The body is that of the largest request over HTTP, with the members that the
// gateway adds to it.
const (
	forwardHostMax   = 64
	forwardNamesMax  = 2 << 10 // of a principal
	forwardBodyMax   = 5 << 20
	forwardTimeMSMax = 3_600_000
)

// readForwarded reads and checks what a node says about a request.
func readForwarded(r *inbox.Request) (about forwarded, err error) {
	values := valuesOf(r.Header, forwardHeader)
	if len(values) != 1 {
		return about, errHeaderTwice(forwardHeader, len(values))
	}
	if err := json.Unmarshal([]byte(values[0]), &about, json.RejectUnknownMembers(true)); err != nil {
		return about, apierr.Errorf(apierr.InvalidField, forwardHeader, "is not what this release expects of another node; want the same release on all nodes")
	}
	asker := job.Actor{By: about.By, From: about.From}
	switch {
	case asker.Validate() != nil:
		return about, asker.Validate()
	case len(about.Principal) > forwardNamesMax || len(about.Means) > 2*forwardHostMax:
		return about, apierr.Errorf(apierr.TooLarge, forwardHeader, "names a longer caller than any node")
	case !forwardFrom[about.From] || len(about.Host) > forwardHostMax, about.TimeoutMS < 1 || about.TimeoutMS > forwardTimeMSMax || about.BodyBytes < 0 || about.PageBytes < 0,
		about.Granted && (about.From != overNATS.String() || about.Principal != ""):
		return about, apierr.Errorf(apierr.InvalidField, forwardHeader, "has a value that no node sends")
	case about.BodyBytes > forwardBodyMax || len(r.Data) > 0 && about.BodyBytes > 0:
		return about, apierr.Errorf(apierr.TooLarge, forwardHeader, "names a body of %d bytes; want at most %d", about.BodyBytes, forwardBodyMax)
	}
	return about, nil
}

// isSealed reports whether a request has the right seal. Without a key of the nodes there is none to check.
func (o *Options) isSealed(r *inbox.Request, body []byte) bool {
	if len(o.ForwardKey) == 0 {
		return true
	}
	about, given := valuesOf(r.Header, forwardHeader), valuesOf(r.Header, seal.Header)
	return len(about) == 1 && len(given) == 1 && seal.Is(given[0], o.ForwardKey, seal.Forward, r.Subject, []byte(about[0]), body)
}
