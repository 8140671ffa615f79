package core

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// The bytes of a tenant's definitions are stored as a sum for each tenant, because a core does not keep the size of
// each job in memory, and a start does not read the definitions. A commit that changes the sum of a tenant writes its
// row. The rows are meta rows, which earlier releases pass over.
//
// A leader of an earlier release does not keep the sums. So each leader that keeps them writes the number of its epoch
// beside them, and they are valid if that is the newest epoch of the store. If it is not, the next leader counts the
// definitions again, some between two steps, in the order of the jobs' ids. Until it is done, the sums are those of
// the jobs that it has counted, and quotas of bytes are held against these.

const (
	// metaBytesOf is the prefix of the names of the rows with the sums; the tenant follows.
	metaBytesOf = "bytes/"
	// metaCounted names the epoch whose leader keeps the sums.
	metaCounted = "bytes_epoch"
	// countRows is how many definitions are counted between two steps: about two milliseconds.
	countRows = 1000
	// countPause is the longest time between two steps while the definitions are counted.
	countPause = 10 * instant.Millis(1)
	// saveRows is how many sums a step writes after the definitions were counted.
	saveRows = 256
)

// byteCount says how far the definitions are counted.
type byteCount struct {
	// epoch is the newest epoch whose leader keeps the sums, as the store says.
	epoch uint64
	// upto is the first job that is not counted; it counts only while the core leads. A change of a later job is not
	// added to the sum: the count meets the job as it is then.
	upto job.ID
	// isUnder is true from the beginning of a count until its sums are written.
	isUnder bool
	left    []string // tenants whose sums are still to be written
	// rowsMax is how many definitions are counted between two steps; 0 is countRows. A field so that simulations can lower it.
	rowsMax int
}

// allCounted is after every job.
const allCounted = job.ID(math.MaxUint64)

// takeBytes takes the stored sum of a tenant; 0 if its row was deleted.
func (x *tenants) takeBytes(name string, n uint64) {
	t := x.of(name)
	t.bytes = int64(n)
	x.touch(t)
}

// isCounted reports whether the stored sums are valid in an epoch.
func (x *tenants) isCounted(epoch uint64) bool { return x.count.epoch == epoch }

// beginCount prepares the sums for a core that begins to lead.
func (x *tenants) beginCount(isCounted bool) {
	x.count.isUnder, x.count.left, x.count.upto = !isCounted, nil, allCounted
	if isCounted {
		return
	}
	x.count.upto = 0
	for name, t := range x.byName {
		if t.jobs == 0 { // only its row is left, from an earlier count
			x.count.left = append(x.count.left, name)
		}
		t.bytes = 0
		x.touch(t)
	}
}

// charge adds n bytes, which may be negative, to the sum of a job's tenant.
func (c *Core) charge(t *tenant, id job.ID, n int64) {
	x := &c.tenants
	if n == 0 || id >= x.count.upto {
		return
	}
	t.bytes += n
	x.unit = append(x.unit, charge{t, n})
	x.touch(t)
	x.save(t)
}

// save lets the commit being built write the sum of a tenant.
func (x *tenants) save(t *tenant) {
	if !t.unsaved {
		t.unsaved = true
		x.unsaved = append(x.unsaved, t)
		x.saving += bytesOfSum(t)
	}
}

// bytesOfSum is an upper bound for the row of a tenant's sum.
func bytesOfSum(t *tenant) int { return metaBytes + len(t.name) }

// sumBytesMax is that bound for any tenant.
const sumBytesMax = metaBytes + job.TenantBytesMax

// writeSums writes the sums that have changed in the commit being built.
func (c *Core) writeSums() {
	x := &c.tenants
	for _, t := range x.unsaved {
		t.unsaved = false
		if t.bytes == 0 {
			c.out.Batch.Delete(job.AppendMetaKey(nil, metaBytesOf+t.name))
			continue
		}
		c.out.Batch.PutMeta(metaBytesOf+t.name, uint64(t.bytes))
	}
	clear(x.unsaved)
	x.unsaved, x.saving = x.unsaved[:0], 0
}

// endCharges begins another unit: what was charged belongs to the commit being built.
func (x *tenants) endCharges() { x.unit = x.unit[:0] }

// moveCharges takes back what the last unit has charged, writes the sums into the commit that the unit leaves, and
// charges it again for the next one.
func (c *Core) moveCharges(seal func()) {
	x := &c.tenants
	for _, ch := range x.unit {
		ch.tenant.bytes -= ch.bytes
	}
	seal()
	for _, ch := range x.unit {
		ch.tenant.bytes += ch.bytes
		x.save(ch.tenant)
	}
}

// IsCounting reports whether definitions are still to be counted: see CountSome.
func (c *Core) IsCounting() bool { return c.tenants.count.upto != allCounted }

// CountSome counts some further definitions from the store, which must have all commits of the core. It must be called
// between two steps of a core that leads, as long as IsCounting. After an error nothing has changed.
func (c *Core) CountSome(from Scanner) error {
	x := &c.tenants
	low := job.AppendJobKey(nil, job.KindJob, x.count.upto)
	next, n, rowsMax := allCounted, 0, cmp.Or(x.count.rowsMax, countRows)
	sums := make(map[string]int64)
	err := from.Scan(low, job.PrefixEnd([]byte{byte(job.KindJob)}), func(key, value []byte) (bool, error) {
		id, err := job.ParseJobKey(key)
		if err != nil {
			return false, err
		}
		if n == rowsMax {
			next = id
			return false, nil
		}
		rec, err := job.DecodeRecord(id, value)
		sums[rec.Def.Tenant] += int64(job.DefinitionBytes(&rec.Def))
		n++
		return true, err
	})
	if err != nil {
		return err
	}
	for name, size := range sums {
		t := x.of(name)
		t.bytes += size
		x.touch(t)
	}
	if x.count.upto = next; next == allCounted {
		x.count.left = slices.AppendSeq(x.count.left, maps.Keys(x.byName))
		slices.Sort(x.count.left)
	}
	return nil
}

// saveCounted writes some of the sums after a count. When all are written, the sums are valid in this epoch.
func (c *Core) saveCounted() {
	x := &c.tenants
	if !x.count.isUnder || c.IsCounting() {
		return
	}
	n := min(saveRows, len(x.count.left))
	for _, name := range x.count.left[:n] {
		c.unit(sumBytesMax)
		if t := x.find(name); t != nil {
			x.save(t)
		} else {
			c.out.Batch.Delete(job.AppendMetaKey(nil, metaBytesOf+name))
		}
	}
	if x.count.left = x.count.left[n:]; len(x.count.left) > 0 {
		return
	}
	c.unit(metaBytes)
	c.out.Batch.PutMeta(metaCounted, c.epoch)
	x.count.isUnder, x.count.left, x.count.epoch = false, nil, c.epoch
}
