package core

import (
	"maps"

	"github.com/carillon-io/carillon/job"
)

// MetaReader is the prefix of the names of rows that hold the newest version of rows that a node of the cluster reads;
// the name of the node follows.
const MetaReader = "reader/"

// readersMax bounds the nodes that are noted.
const readersMax = 64

// NoteReader notes which rows a node of the cluster reads, so that the next leader knows it. Zero Rows removes the node.
// Beyond 64 nodes one that reads the newest rows gives way, because the oldest decide what may be written.
type NoteReader struct {
	Handled
	Node string
	Rows byte
}

// Bytes implements [Proposal].
func (p *NoteReader) Bytes() int { return proposalBytes + 2*len(p.Node) + job.TenantBytesMax }

// noteReader carries a [NoteReader] out. The table is never changed in place, because readings share it.
func (c *Core) noteReader(p *NoteReader) {
	if c.readers[p.Node] == p.Rows {
		return
	}
	if p.Rows != 0 && c.readers[p.Node] == 0 && len(c.readers) >= readersMax {
		newest := c.newestReader()
		if c.readers[newest] <= p.Rows {
			return
		}
		c.setReader(newest, 0)
	}
	c.setReader(p.Node, p.Rows)
}

// newestReader returns a node that reads the newest rows. Of several it returns the first by name, so that the same
// proposals write the same rows.
func (c *Core) newestReader() (newest string) {
	for name, rows := range c.readers {
		if newest == "" || rows > c.readers[newest] || rows == c.readers[newest] && name < newest {
			newest = name
		}
	}
	return newest
}

// setReader writes the row of a node, or deletes it.
func (c *Core) setReader(node string, rows byte) {
	if rows == 0 {
		c.out.Batch.Delete(job.AppendMetaKey(nil, MetaReader+node))
	} else {
		c.out.Batch.PutMeta(MetaReader+node, uint64(rows))
	}
	c.keepReader(node, rows)
}

// keepReader keeps in memory what the row of a node says; 0: there is none.
func (c *Core) keepReader(node string, rows byte) {
	c.readers = maps.Clone(c.readers)
	if rows == 0 {
		delete(c.readers, node)
		return
	}
	if c.readers == nil {
		c.readers = make(map[string]byte)
	}
	c.readers[node] = rows
}
