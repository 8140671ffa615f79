package core

import (
	"fmt"
	"maps"
	"slices"

	"github.com/carillon-io/carillon/job"
)

// A store with all slots is divided into the stores of several shards. Each row goes to the shard of its job's slot; what
// is about no job, such as a calendar, goes to all shards or to the first one. docs/replication.md has the decision for
// each kind of row.
//
// A division reads a store that nothing changes meanwhile, and writes rows only. It decides nothing: each shard, once it
// is loaded, has the jobs, runs and debts that the whole had, with the same ticks.

// RowReader is a store from which a division reads.
type RowReader interface {
	Scanner
	// Get returns a copy of the value of a key, and whether there is one.
	Get(key []byte) (value []byte, ok bool, err error)
}

// Division is what came of dividing a store.
type Division struct {
	// Rows counts the rows of the divided store by kind.
	Rows map[job.Kind]int
	// Renumbered are the jobs that got new ids, ascending by the old one: see [Renumbered].
	Renumbered []Renumbered
}

// Renumbered is a job whose id carried no slot, and that has one which does. Tenant and Name are "" if the job was
// deleted, and no entry of the audit log says its name.
type Renumbered struct {
	Old, New     job.ID
	Tenant, Name string
}

// dividedBytes is the size in bytes from which the rows of a shard are written.
const dividedBytes = 256 << 10

// divider divides a store.
type divider struct {
	from  RowReader
	parts []part
	write func(shard uint32, b *job.Batch) error
	rows  map[job.Kind]int
	meta  map[string]uint64
	ids   renumbering
	names int // rows of names, each of one job
}

// part is what a division keeps of one shard.
type part struct {
	batch    job.Batch
	version  byte             // newest version of its rows
	profiles map[uint32]bool  // that its jobs refer to
	bytes    map[string]int64 // of the definitions of its jobs, by tenant
}

// Divide passes the rows of each of so many shards to write, which must not keep the batch. The number is one that
// [job.ValidateShards] accepts. It reads every row of the store, and returns an error if one is malformed, or does not
// fit the others: a store with damage is not divided.
func Divide(from RowReader, shards int, write func(shard uint32, b *job.Batch) error) (Division, error) {
	d := &divider{from: from, parts: make([]part, shards), write: write, rows: make(map[job.Kind]int), meta: make(map[string]uint64)}
	for n := range d.parts {
		d.parts[n] = part{profiles: make(map[uint32]bool), bytes: make(map[string]int64)}
	}
	steps := []func() error{
		d.readMeta, d.renumber, d.divideJobs, d.divideRows, d.divideProfiles, d.writeMeta, d.flushAll,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return Division{}, fmt.Errorf("scheduler: divide the rows: %w", err)
		}
	}
	return Division{Rows: d.rows, Renumbered: d.ids.sorted()}, nil
}

// CountRows counts the rows of a store by kind.
func CountRows(from Scanner) (map[job.Kind]int, error) {
	rows := make(map[job.Kind]int)
	err := from.Scan(nil, nil, func(key, _ []byte) (bool, error) {
		rows[job.Kind(key[0])]++
		return true, nil
	})
	return rows, err
}

// of returns the part that has a slot.
func (d *divider) of(s job.Slot) *part { return &d.parts[job.ShardOf(s, len(d.parts))] }

// scan calls fn for the rows of a kind, counts them, and says in an error which row it is about.
func (d *divider) scan(kind job.Kind, fn func(key, value []byte) error) error {
	return scanKind(d.from, kind, func(key, value []byte) error {
		d.rows[kind]++
		if err := fn(key, value); err != nil {
			return fmt.Errorf("row %x: %w", key, err)
		}
		return d.flushFull()
	})
}

// flushFull writes the rows of the shards that have many.
func (d *divider) flushFull() error {
	for n := range d.parts {
		if d.parts[n].batch.Size() >= dividedBytes {
			if err := d.flush(uint32(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *divider) flush(shard uint32) error {
	p := &d.parts[shard]
	p.version = max(p.version, p.batch.RowsVersion())
	err := d.write(shard, &p.batch)
	p.batch.Reset()
	return err
}

func (d *divider) flushAll() error {
	for n := range d.parts {
		if err := d.flush(uint32(n)); err != nil {
			return err
		}
	}
	return nil
}

// divideJobs writes the rows of each job that follow from its definition and its timer: both of these, its name, and the
// index of lists, which is made anew for all jobs.
func (d *divider) divideJobs() error {
	err := d.scan(job.KindJob, func(key, value []byte) error {
		old, err := job.ParseJobKey(key)
		if err != nil {
			return err
		}
		rec, err := job.DecodeRecord(old, value)
		if err != nil {
			return err
		}
		return d.divideJob(old, &rec.Def, value)
	})
	if err == nil {
		err = d.scan(job.KindTimer, func(_, _ []byte) error { return nil })
	}
	if jobs, timers := d.rows[job.KindJob], d.rows[job.KindTimer]; err == nil && (jobs != d.names || timers != d.names) {
		err = fmt.Errorf("there are %d names, %d definitions and %d timers of jobs", d.names, jobs, timers)
	}
	return err
}

// divideJob writes the rows of one job.
func (d *divider) divideJob(old job.ID, def *job.Definition, record []byte) error {
	named, ok, err := d.from.Get(job.AppendNameKey(nil, def.Tenant, def.Name))
	if err != nil {
		return err
	}
	if id, err := job.DecodeName(named); !ok || err != nil || id != old {
		return fmt.Errorf("the name %s of %s leads to job %s, which is job %s: %w", def.Name, def.Tenant, id, old, err)
	}
	value, ok, err := d.from.Get(job.AppendJobKey(nil, job.KindTimer, old))
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("job %s has no timer", old)
	}
	timer, err := job.DecodeTimer(value)
	if err != nil {
		return err
	}
	id := d.ids.of(old)
	p := d.of(id.Slot())
	p.batch.Put(job.AppendJobKey(nil, job.KindJob, id), record)
	p.batch.Put(job.AppendJobKey(nil, job.KindTimer, id), value)
	p.batch.PutName(def.Tenant, def.Name, id)
	p.profiles[timer.Profile] = true
	p.bytes[def.Tenant] += int64(job.DefinitionBytes(def))
	for _, label := range job.LabelHashes(def) {
		p.batch.PutLabel(label, def.Name)
	}
	tenant := job.HashTenant(def.Tenant)
	if state := timer.Flags.StateTrait(); state != 0 {
		p.batch.PutTrait(tenant, state, id)
	}
	if timer.Flags.Is(job.FlagDead) {
		p.batch.PutTrait(tenant, job.TraitDead, id)
	}
	return nil
}

// divideProfiles writes each profile to the shards with jobs that refer to it, under its number. One to which no job
// refers any more is left out.
func (d *divider) divideProfiles() error {
	err := d.scan(job.KindProfile, func(key, value []byte) error {
		n, _, err := readProfile(key, value)
		for i := range d.parts {
			if p := &d.parts[i]; p.profiles[n] {
				p.batch.Put(key, value)
				delete(p.profiles, n)
			}
		}
		return err
	})
	for i := range d.parts {
		if missing := slices.Sorted(maps.Keys(d.parts[i].profiles)); err == nil && len(missing) > 0 {
			err = fmt.Errorf("profile %d is missing", missing[0])
		}
	}
	return err
}
