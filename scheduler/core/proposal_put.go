package core

import (
	"errors"
	"slices"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// Put registers a job, or updates the one with the same name.
type Put struct {
	Handled
	withdrawal
	Tenant, Name string
	Hash         NameHash
	Slot         job.Slot // of the name
	MaySlot      bool     // every node can read a store whose ids carry slots
	Actor        job.Actor
	Origin       job.TraceContext // the request's span, if it is sampled
	Definition   []byte           // encoded
	Masked       []byte           // the definition as it was sent, with masks in place of credentials; nil if it has none
	IfNew        error            // with Masked: why it cannot register a job that does not exist
	After        []byte           // the same for the audit log; only with Prior
	Profile      job.Profile
	Schedule     *schedule.Schedule
	Found        Found // a tick of Schedule
	Paused       bool
	Labels       []job.LabelHash // of the definition
	IfVersion    *uint32         // nil: any; 0: the name must be unused
	Prior        *Prior          // nil: the proposer believes that the name is unused
	// Earlier is the put of the same name before it in the same ticket; nil: none. Its rows are not in the store yet,
	// so this put is prepared from it instead.
	Earlier *Put
	Again   bool // it will be proposed once more
	// admitted is set when the quota has let an update pass: it is not asked again if the update takes several steps.
	admitted bool
	last     *Put // the newest of those before it that took effect, once it is handled

	// Results.
	Stamp   job.Stamp
	Timer   job.Timer
	NextRun instant.Millis
	Created bool
}

// Found is a search for a tick that the proposer of a put has made, so that the step need not make it: First is the first
// tick of By after an instant. The zero value is no search. It must not be of an "@every", whose ticks depend on the step.
type Found struct {
	By           *schedule.Schedule
	After, First instant.Millis
}

// firstOf returns the first tick of a schedule after an instant, if the search answers that too: ticks between the two
// instants would have been found.
func (f *Found) firstOf(s *schedule.Schedule, after instant.Millis) (instant.Millis, bool) {
	return f.First, f.By == s && s != nil && f.After <= after && after < f.First
}

// Prior is what the proposer read of the job that it changes. The step compares ID and Version with the row in memory,
// and refuses the put as stale if they differ.
type Prior struct {
	ID        job.ID
	Version   uint32
	CreatedAt instant.Millis
	Anchor    instant.Millis
	Before    []byte // the definition for the audit log
	Size      int    // of the encoded definition
	Labels    []job.LabelHash
	Ledger    Ledger
}

// Bytes counts the definition twice, because its texts are repeated in the rows of the name and of the profile.
func (p *Put) Bytes() int {
	n := putBytes + 2*len(p.Definition)
	n += auditBytes + len(p.Tenant) + len(p.Name) + len(p.Actor.By) + len(p.Actor.From) + len(p.Actor.Claimed)
	if p.Origin.IsValid() {
		n += originBytes
	}
	n += labelRowsBytes(len(p.Labels), p.Name)
	if p.Prior != nil {
		n += labelRowsBytes(len(p.Prior.Labels), p.Name)
		n += len(p.Prior.Before) + len(p.After) + p.Prior.Ledger.bytes()
	}
	if p.Earlier != nil {
		n += len(p.Earlier.Definition) + len(p.Definition) + labelRowsBytes(len(p.Earlier.Labels), p.Name)
	}
	for _, name := range p.Profile.Spec.Zones() {
		n += metaBytes + len(name)
	}
	return n
}

// size returns the length of the encoded definition.
func (p *Put) size() int64 { return int64(len(p.Definition)) }

// inherit prepares a put from the one of the same name before it in the ticket, whose rows were not in the store when
// the ticket was proposed.
func (p *Put) inherit() {
	e := p.Earlier
	if e == nil {
		return
	}
	if errors.Is(e.Err, ErrStale) { // that one is proposed again, and so is this one
		p.Err = ErrStale
		return
	}
	if p.last = e.last; e.Err == nil {
		p.last = e
	}
	if p.last != nil && p.Masked != nil { // the credentials that it keeps must be read first
		p.Err = ErrStale
		return
	}
	if q := p.last; q != nil {
		from, to, err := q.auditUpTo(p)
		if err != nil {
			p.Err = err
			return
		}
		p.Prior = &Prior{
			ID: q.Stamp.ID, Version: q.Stamp.Version, CreatedAt: q.Stamp.CreatedAt,
			Anchor: q.Stamp.Anchor, Before: from, Size: len(q.Definition), Labels: q.Labels, Ledger: q.ledgerFor(p),
		}
		p.After = to
	}
}

// ledgerFor returns what is known of the job's ticks for the put that comes after this one: what its proposer read,
// and what this put has ended since.
func (p *Put) ledgerFor(next *Put) (l Ledger) {
	if p.Prior != nil && p.Prior.ID == p.Stamp.ID {
		l = p.Prior.Ledger
		l.Over = slices.Clone(l.Over)
	}
	l.Decided = next.Prior != nil && next.Prior.ID == p.Stamp.ID && next.Prior.Ledger.Decided
	return l
}

// auditUpTo returns the definitions before and after a put that comes after this one, for the audit log.
func (p *Put) auditUpTo(next *Put) (from, to []byte, err error) {
	before, err := job.DecodeAuditDefinition(p.Definition)
	if err != nil {
		return nil, nil, err
	}
	return job.AuditUpdate(&before, next.Definition)
}

// Unchain makes a put independent of the one before it in its ticket, whose rows are in the store now.
func (p *Put) Unchain() { p.Earlier, p.last = nil, nil }

// Unmask replaces the masks that a proposal came with by the stored credentials. The step accepts the proposal only
// at the job's version at which they were read, so that a mask never restores a credential that another put has
// replaced.
func (p *Put) Unmask(stored *job.Definition) error {
	if p.Masked == nil {
		return nil
	}
	d, err := job.DecodeAuditDefinition(p.Masked)
	if err != nil {
		return err
	}
	if d, err = d.Unmask(stored); err != nil {
		return err
	}
	p.Definition = job.EncodeDefinition(&d)
	return nil
}
