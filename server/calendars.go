package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
)

// Shard 0 has the true calendars, and each other shard a copy of all. A put goes to shard 0 and then to the others; one that was
// away keeps its old copy. So each process compares the copies of the shards that it leads with the replica of shard 0 that it
// has, and mends them.
//
// A copy must never be mended to what the calendar was before: a change may have reached the shard, and not yet this replica of
// shard 0. So a difference is mended only when it has been the same for mendAfter, and while the replica has all that the leader
// of shard 0 had according to a beat that is fresh, which is younger than that. And the shard mends the copy only if it
// still has the version that was compared.

const (
	// compareEvery is the time between two looks at the calendars. A look costs nothing while no calendar changes.
	compareEvery = time.Second
	// mendAfter is more than the age of a fresh beat.
	mendAfter = 2 * time.Second
	// mendTimeMax bounds how long one change may take.
	mendTimeMax = 5 * time.Second
)

// calendarKeeper compares the copies of one shard with the true calendars. One goroutine uses it.
type calendarKeeper struct {
	member *member
	truth  func() (e *scheduler.Engine, isLevel func() bool) // e is nil while the process has no replica of shard 0
	logger *slog.Logger

	compared compared
	differ   map[scheduler.CalendarName]difference
}

// compared is what the last look has compared.
type compared struct {
	truth, own               *scheduler.Engine
	truthChanges, ownChanges uint64
}

// difference is a calendar that shard 0 and another shard have in two ways. nil: it does not have the calendar.
type difference struct {
	truth, own *job.Calendar
	since      time.Time // for how long it has been so, or when it was tried to mend it last
	isKept     bool      // jobs refer to a copy of a calendar that is deleted
	hasFailed  bool      // to be mended, which was logged
}

// keepCalendars compares the calendars of the shards other than the first one until the server ends.
func (s *Server) keepCalendars(context.Context) error {
	if !s.divided() {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopCalendars = stop
	s.background.Go(func() {
		tick := time.NewTicker(compareEvery)
		defer tick.Stop()
		keepers := make(map[*member]*calendarKeeper)
		for {
			keepers = s.lookAtCalendars(ctx, keepers)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return nil
}

// lookAtCalendars has each keeper look once, and returns those of the members that there are now.
func (s *Server) lookAtCalendars(ctx context.Context, old map[*member]*calendarKeeper) map[*member]*calendarKeeper {
	keepers := make(map[*member]*calendarKeeper)
	for _, m := range s.members()[1:] {
		k := old[m]
		if k == nil {
			k = &calendarKeeper{member: m, truth: s.trueCalendars, logger: s.loggerOf(m)}
		}
		k.look(ctx, time.Now())
		keepers[m] = k
	}
	return keepers
}

// trueCalendars returns the engine of shard 0 in this process, and whether it has what the leader of shard 0 has.
func (s *Server) trueCalendars() (*scheduler.Engine, func() bool) {
	m := s.first()
	return m.shard.Engine(), func() bool {
		st := m.shard.Node().Status()
		switch st.Role {
		case replication.RoleLeader:
			return st.Trust > 0
		case replication.RoleStandby:
			return st.Lag == 0
		}
		return false
	}
}

// look compares, and mends what has differed for long enough if the shard is led here.
func (k *calendarKeeper) look(ctx context.Context, now time.Time) {
	truth, isLevel := k.truth()
	own := k.member.shard.Engine()
	if truth == nil || own == nil {
		return
	}
	k.compare(truth, own, now)
	if len(k.differ) == 0 || k.member.shard.LeaderService() == nil || !isLevel() {
		return
	}
	for _, name := range k.due(now) {
		if !k.mend(ctx, own, name, now) {
			return // the shard takes nothing now
		}
	}
}

// compare finds the differences, unless nothing has changed since the last look.
func (k *calendarKeeper) compare(truth, own *scheduler.Engine, now time.Time) {
	if k.compared == (compared{truth, own, truth.CalendarChanges(), own.CalendarChanges()}) {
		return
	}
	wanted, truthChanges := truth.AllCalendars()
	has, ownChanges := own.AllCalendars()
	k.compared = compared{truth, own, truthChanges, ownChanges}
	differ, kept := make(map[scheduler.CalendarName]difference), 0
	note := func(name scheduler.CalendarName, d difference) {
		d.since = now
		if before, was := k.differ[name]; was && before.truth == d.truth && before.own == d.own {
			d = before
		}
		if differ[name] = d; d.isKept {
			kept++
		}
	}
	for name, cal := range wanted {
		if !isSame(cal, has[name]) {
			note(name, difference{truth: cal, own: has[name]})
		}
	}
	for name, cal := range has {
		if wanted[name] == nil {
			note(name, difference{own: cal})
		}
	}
	k.differ = differ
	k.member.keptCalendars.Store(int64(kept))
}

// isSame reports whether a copy says what the true calendar says. Versions and times differ.
func isSame(truth, own *job.Calendar) bool {
	return own != nil && truth.Description == own.Description && slices.Equal(truth.Exclude, own.Exclude)
}

// due returns the calendars that are to be mended: first those that are deleted, so that there is place for others.
func (k *calendarKeeper) due(now time.Time) (names []scheduler.CalendarName) {
	var put []scheduler.CalendarName
	for name, d := range k.differ {
		switch {
		case now.Sub(d.since) < mendAfter:
		case d.truth == nil:
			names = append(names, name)
		default:
			put = append(put, name)
		}
	}
	return append(names, put...)
}

// mend makes the copy of a calendar like the true one. It returns false if the shard does not take changes now.
func (k *calendarKeeper) mend(ctx context.Context, own *scheduler.Engine, name scheduler.CalendarName, now time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, mendTimeMax)
	defer cancel()
	d, had := k.differ[name], uint32(0)
	if d.own != nil {
		had = d.own.Version
	}
	var err error
	if d.truth == nil {
		err = own.DropCalendar(ctx, name, had)
	} else {
		err = own.MendCalendar(ctx, d.truth, had)
	}
	log := k.logger.With(slog.String(job.LogTenant, name.Tenant), slog.String(job.LogCalendar, name.Name))
	if err == nil {
		log.Info("the copy of a calendar was old, and is now as in shard 0")
		return true // the next look finds that it is the same
	}
	isRefused := apierr.From(err).Code == apierr.VersionConflict
	switch {
	case isRefused && own.CalendarChanges() != k.compared.ownChanges:
		return true // the copy may have changed meanwhile: the next look compares again
	case isRefused && d.truth == nil && !d.isKept:
		k.member.keptCalendars.Add(1)
		log.Warn("a calendar is deleted in shard 0, and jobs of this shard refer to it; they keep it; put the calendar again, or change the jobs")
		d.isKept = true
	case !d.isKept && !d.hasFailed && ctx.Err() == nil:
		log.Warn("the copy of a calendar is old, and could not be mended; it is tried again", slog.Any("error", err))
		d.hasFailed = true
	}
	d.since = now
	k.differ[name] = d
	return isRefused
}

// calendarWarnings warns of calendars that shard 0 does not have any more, and that jobs of a shard use. They name no tenant,
// because every caller may read them.
func (m *member) calendarWarnings() []string {
	n := m.keptCalendars.Load()
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("shard %d has calendars that shard 0 does not have, and keeps them because jobs refer to them: %d; its log names them; put them again, or change the jobs", m.number, n)}
}
