package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	settingsEvery = time.Minute     // between two looks at one stream, each of which is a request
	settingsTick  = 2 * time.Second // between two looks at whether one is due; without a request
)

// settingsSeen is what a process has found out about the settings of the streams that its members use. Safe for concurrent
// use.
type settingsSeen struct {
	mu    sync.Mutex
	looks map[string]settingsLook // by the name of the stream: at most one a shard and the bucket
}

// settingsLook is one look at a stream.
type settingsLook struct {
	at    time.Duration // of this process; 0: never
	led   bool          // this process led the stream's shard, and so has set back what it may
	mends bool          // there was something to set back
	flaws []Flaw
}

// due reports whether it is time for another look: after settingsEvery, and as soon as this process leads if there is
// something that a leader sets back.
func (l *settingsLook) due(now time.Duration, leads bool) bool {
	return l.at == 0 || now-l.at >= settingsEvery || leads && !l.led && l.mends
}

func (s *settingsSeen) of(stream string) settingsLook {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks[stream]
}

func (s *settingsSeen) keep(stream string, l settingsLook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looks == nil {
		s.looks = make(map[string]settingsLook)
	}
	s.looks[stream] = l
}

// watched is a stream whose settings are looked at.
type watched struct {
	wants jetstream.StreamConfig
	leads bool // this process leads the stream's shard, and may launch
	js    jetstream.JetStream
	log   *slog.Logger
}

// watchSettings looks at the settings of the streams from time to time, until ctx ends: at the start of each process, and about
// once a minute.
func (h *Host) watchSettings(ctx context.Context) {
	for range ticks(ctx, settingsTick) {
		for _, w := range h.watched() {
			look, now := h.settings.of(w.wants.Name), h.opts.Boot()
			if ctx.Err() == nil && look.due(now, w.leads) {
				h.settings.keep(w.wants.Name, w.look(ctx, look, now))
			}
		}
	}
}

// watched returns the streams of the members and of the bucket, which the leader of shard 0 looks after.
func (h *Host) watched() (all []watched) {
	h.mu.Lock()
	defer h.mu.Unlock()
	lease := watched{wants: h.bucket.streamConfig(h.opts.replicas()), js: h.bucket.js, log: h.opts.Logger}
	for shard, m := range h.members {
		w := watched{wants: m.stream.config, leads: m.Role() == RoleLeader && m.Trust() > 0, js: m.stream.js, log: m.opts.Logger}
		w.wants.Replicas = m.opts.replicas()
		all = append(all, w)
		if shard == 0 {
			lease.leads = w.leads
		}
	}
	return append(all, lease)
}

// look compares a stream with what this node would make, sets back what it may if this process leads, and logs what has
// changed since the last look. If NATS does not answer, what was known before stays.
func (w *watched) look(ctx context.Context, last settingsLook, now time.Duration) settingsLook {
	next := settingsLook{at: now, led: w.leads}
	has, err := w.read(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return next // its absence is found elsewhere
	}
	if err != nil {
		last.at = now
		return last
	}
	flaws, mended, mends := compare(has, w.wants)
	if mends && w.leads {
		if has, err = w.mend(ctx, mended); err != nil {
			w.log.Warn("NATS refuses to set a stream back", slog.String("stream", w.wants.Name), slog.Any("error", err))
		} else {
			w.report(flaws, nil, "a setting of a stream in NATS is not what was promised; the leader has set back what it may")
			flaws, _, mends = compare(has, w.wants)
		}
	}
	w.report(flaws, last.flaws, "a setting of a stream in NATS is not what was promised")
	next.flaws, next.mends = flaws, mends
	return next
}

// report logs the flaws that are new.
func (w *watched) report(flaws, known []Flaw, text string) {
	for _, f := range flaws {
		if !slices.Contains(known, f) {
			w.log.Warn(text, slog.String("stream", f.Stream), slog.String("setting", f.Setting), slog.String("has", f.Has), slog.String("wants", f.Wants),
				slog.String("harm", f.Harm), slog.String("remedy", f.Remedy))
		}
	}
}

func (w *watched) read(ctx context.Context) (jetstream.StreamConfig, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	stream, err := w.js.Stream(ctx, w.wants.Name)
	if err != nil {
		return jetstream.StreamConfig{}, fmt.Errorf("replication: read the settings of the stream %s: %w", w.wants.Name, err)
	}
	return stream.CachedInfo().Config, nil
}

// mend changes the stream, and returns its settings from then on.
func (w *watched) mend(ctx context.Context, config jetstream.StreamConfig) (jetstream.StreamConfig, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	stream, err := w.js.UpdateStream(ctx, config)
	if err != nil {
		return config, fmt.Errorf("replication: set the stream %s back: %w", w.wants.Name, err)
	}
	return stream.CachedInfo().Config, nil
}

// flaws returns those of the stream of a member's log, and of the bucket.
func (n *Node) flaws() []Flaw {
	if n.host == nil || n.bucket == nil {
		return nil // in the simulation
	}
	return slices.Concat(n.host.settings.of(n.stream.name).flaws, n.host.settings.of(n.bucket.name).flaws)
}
