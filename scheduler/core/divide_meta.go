package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/job"
)

// metaFate is what a division does with a meta row.
type metaFate byte

const (
	metaUnknown metaFate = iota
	metaCopied           // to each shard
	metaAnew             // writeMeta computes it for each shard
	metaDropped          // it is about the nodes of the old cluster
)

// fateOfMeta returns what a division does with the meta row of a name. A name that it does not know is that of a later
// release.
func fateOfMeta(name string) metaFate {
	switch name {
	case MetaEpoch, metaPrunedDay, MetaReplan, MetaTZData:
		return metaCopied
	case MetaNextID, job.MetaSlotsFrom, job.MetaIndexed, metaUsualRate, metaShard, metaCounted, MetaRows:
		return metaAnew
	}
	switch {
	case strings.HasPrefix(name, MetaZone):
		return metaCopied
	case strings.HasPrefix(name, metaBytesOf):
		return metaAnew
	case strings.HasPrefix(name, MetaReader):
		return metaDropped
	}
	return metaUnknown
}

// readMeta reads the meta rows. It refuses those that it does not know: a row that is left out, or is the same in each
// shard, may be wrong there.
func (d *divider) readMeta() error {
	err := d.scan(job.KindMeta, func(key, value []byte) error {
		name := string(key[1:])
		n, err := job.DecodeMeta(value)
		if err == nil && fateOfMeta(name) == metaUnknown {
			err = fmt.Errorf("%w: the number %q is not known here; run the release that wrote it, or a later one", job.ErrNewerRows, name)
		}
		d.meta[name] = n
		return err
	})
	if err == nil {
		err = job.CheckRowsVersion(d.meta[MetaRows])
	}
	if err == nil && d.meta[MetaNextID] == 0 {
		err = fmt.Errorf("there is no row %q: no engine has used the store", MetaNextID)
	}
	return err
}

// writeMeta writes the meta rows of each shard. All ids are given out, and all other rows are written.
func (d *divider) writeMeta() error {
	if d.ids.numbers.isUsedUp() {
		return errIDsUsedUp
	}
	usual := (d.meta[metaUsualRate] + uint64(len(d.parts))/2) / uint64(len(d.parts))
	for n := range d.parts {
		p := &d.parts[n]
		b := &p.batch
		for _, name := range slices.Sorted(maps.Keys(d.meta)) {
			if fateOfMeta(name) == metaCopied {
				b.PutMeta(name, d.meta[name])
			}
		}
		b.PutMeta(MetaNextID, uint64(d.ids.numbers.next))
		b.PutSlotsFrom(d.ids.numbers.slotsFrom)
		b.PutIndexed(job.IndexedAll)
		b.PutMeta(metaUsualRate, usual)
		b.PutMeta(metaShard, uint64(n))
		for _, tenant := range slices.Sorted(maps.Keys(p.bytes)) {
			b.PutMeta(metaBytesOf+tenant, uint64(p.bytes[tenant]))
		}
		b.PutMeta(metaCounted, d.meta[MetaEpoch])
		version := max(uint64(p.version), uint64(b.RowsVersion()), d.meta[MetaRows])
		b.PutMeta(MetaRows, version) // that of the index is above the version without a row
	}
	return nil
}
