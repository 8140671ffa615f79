package replication

import (
	"testing"
	"time"
)

// TestTakenFromBefore: a node takes the lease of its own earlier process at once, and that of another process
// of its name only when it has expired.
func TestTakenFromBefore(t *testing.T) {
	for _, tt := range []struct {
		name string
		seen []leaseValue
		want bool // at once
	}{
		{"of an earlier life", []leaseValue{{Node: "a", Process: "1", Term: 1}}, true},
		{"of an earlier life whose renewals come late", []leaseValue{{Node: "a", Process: "1", Term: 1}, {Node: "a", Process: "1", Term: 1, Renewal: 1}}, true},
		{"of an earlier release", []leaseValue{{Node: "a", Term: 1}}, true},
		{"of this process", []leaseValue{{Node: "b", Process: "9", Term: 1}, {Node: "a", Process: "5", Term: 2}}, true},
		{"of another process", []leaseValue{{Node: "a", Process: "5", Term: 1}, {Node: "a", Process: "6", Term: 2}}, false},
		{"of another process after another node", []leaseValue{{Node: "b", Process: "2", Term: 1}, {Node: "a", Process: "6", Term: 2}}, false},
		{"of another node", []leaseValue{{Node: "b", Process: "2", Term: 1}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := challenger{node: "a", process: "5", lease: 15 * time.Second, grace: time.Second, takesEarly: true}
			for i, v := range tt.seen {
				r.saw(time.Second, uint64(i+1), v)
			}
			if why := r.claimReason(time.Second, false); (why != "") != tt.want {
				t.Errorf("it is taken at once because %q", why)
			}
			if r.claimReason(16*time.Second, false) == "" {
				t.Error("it is not taken when it has expired")
			}
		})
	}
}

// TestLeaseOfOlderRelease: a lease without a process can be read, and one with a process has the field.
func TestLeaseOfOlderRelease(t *testing.T) {
	v, err := decodeLease([]byte(`{"version":1,"cluster":"c","node":"a","term":7,"renewal":31,"released":false,"to":""}`))
	if err != nil || v.Node != "a" || v.Process != "" || v.Term != 7 {
		t.Errorf("%+v, %v", v, err)
	}
	v.Process = "p"
	if again, err := decodeLease(v.encode()); err != nil || again.Process != "p" {
		t.Errorf("%+v, %v", again, err)
	}
}

// pair is two processes of one name, and the messages under way between them.
type pair struct {
	twins    [2]twinState
	question [2]bool // question of each process to the other
	answer   [2]bool // answer for each process
	asked    [2]int
}

// twinState is the state by which a twin decides.
type twinState struct{ asking, ends bool }

func (s *twinState) do(act func(*twin)) {
	t := twin{asking: s.asking, ends: s.ends}
	act(&t)
	*s = twinState{t.asking, t.ends}
}

// TestNeverBothEnd explores two processes of one name, each of which may ask the other at any time, through all
// orders in which questions and answers are sent, arrive, are lost or time out.
func TestNeverBothEnd(t *testing.T) {
	seen, ended := make(map[pair]bool), [2]bool{}
	var follow func(pair)
	follow = func(p pair) {
		if seen[p] {
			return
		}
		seen[p] = true
		if p.twins[0].ends && p.twins[1].ends {
			t.Fatalf("both end: %+v", p)
		}
		for i := range 2 {
			ended[i] = ended[i] || p.twins[i].ends
			for _, next := range p.steps(i) {
				follow(next)
			}
		}
	}
	follow(pair{})
	if !ended[0] || !ended[1] || len(seen) < 100 {
		t.Errorf("in %d states, the earlier one ends: %t, the later one ends: %t", len(seen), ended[0], ended[1])
	}
}

// steps returns the states that can come next for a process. A question or an answer stays under way: it may
// arrive late, or never.
func (p pair) steps(i int) (next []pair) {
	other := 1 - i
	step := func(act func(*pair)) {
		q := p
		act(&q)
		next = append(next, q)
	}
	if !p.twins[i].ends && !p.twins[i].asking && p.asked[i] < 3 {
		step(func(q *pair) {
			q.twins[i].do((*twin).begin)
			q.question[i], q.answer[i] = true, false // an answer to an earlier question arrives in the old inbox
			q.asked[i]++
		})
	}
	if p.question[other] && !p.twins[i].ends {
		step(func(q *pair) {
			q.question[other] = false
			q.twins[i].do(func(t *twin) { q.answer[other] = t.mayStay(i == 1) })
		})
	}
	if p.twins[i].asking {
		step(func(q *pair) { q.twins[i].do(func(t *twin) { t.finish(false) }) })
	}
	if p.answer[i] {
		step(func(q *pair) {
			q.answer[i] = false
			q.twins[i].do(func(t *twin) { t.finish(true) })
		})
	}
	return next
}

// TestPromisesAreOfProcesses: a process that was replaced under its name wakes up, and promises not to take the
// lease. The holder does not launch on this promise, because the process that has the name now has promised
// nothing.
func TestPromisesAreOfProcesses(t *testing.T) {
	const now, length = 100 * time.Second, 600 * time.Millisecond
	woken, present := holderQuestion{Node: "b", Process: "1"}, holderQuestion{Node: "b", Process: "2"}
	holder := tenure{lease: 15 * time.Second, margin: 2 * time.Second, grace: 500 * time.Millisecond, renewed: now}
	holder.promise(present.heir(), now, length, now)
	holder.succeeded(now, now, holder.trying(now), false, false)
	if end := holder.assured(); end <= now {
		t.Fatalf("the promise of the heir holds until %s, want later than %s", end, now)
	}
	later := now + 10*length
	holder.promise(woken.heir(), later, length, later)
	if end := holder.assured(); end > later {
		t.Errorf("the promise of the woken process holds until %s, though the heir's ended before %s", end, later)
	}
}
