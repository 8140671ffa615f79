package scheduler

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/carillon-io/carillon/scheduler/core"
)

// A start with many jobs uses all cores. The keys of a kind of row are cut into parts of about equal size. Some goroutines
// read and decode one part each, and the goroutine that opens the engine adds the rows of one part after the other to the
// core. Reading and decoding costs several times as much as adding. While the rows of a part are added, the parts after it
// are read; a reader that is so far ahead that all its blocks are full waits.

const (
	// blocksMost is the number of blocks of one reader. They are enough for a part: with fewer, a reader would wait for its
	// turn in the middle of a part, and the others would have nothing to do after theirs. A block has about 100 KiB, and one
	// of timers a page of the table beside.
	blocksMost = 24
	// readersMost bounds the readers, and by that the memory of a start beside that of its jobs: they have at most
	// 28 MiB of blocks. More readers than this would wait for the one goroutine that adds.
	readersMost = 4
)

// errEnough ends a scan whose further rows are not needed.
var errEnough = errors.New("scheduler: enough rows")

// cutter is a store that knows where its rows are: see [snapshot.Store.Cuts].
type cutter interface {
	Cuts(low, high []byte) ([][]byte, error)
}

// aheadScanner reads ahead of what is added.
type aheadScanner struct {
	core.Scanner
	cuts    func(low, high []byte) ([][]byte, error) // nil: the keys of a kind are one part
	readers int
}

// newAheadScanner returns a scanner of a store. report may be nil; see [Options.Loading].
func newAheadScanner(from core.Scanner, report func(jobs uint64)) aheadScanner {
	a := aheadScanner{Scanner: counted(from, report), readers: min(runtime.NumCPU(), readersMost)}
	if c, ok := from.(cutter); ok {
		a.cuts = c.Cuts
	}
	return a
}

// keyPart is a part of the keys. The blocks in full have its rows in the order of keys; when full is closed, err is why there are
// no more.
type keyPart struct {
	low, high []byte
	full      chan core.Block
	home      chan<- core.Block // of the reader, which uses the blocks again; set before the first block is sent
	err       error
}

// ahead is one pass over the keys of a kind.
type ahead struct {
	from  core.Scanner
	empty func() core.Block
	queue chan *keyPart // that no reader has yet, in the order of keys
	gone  chan struct{} // closed when no further row is needed
}

// ScanBlocks implements [core.BlockScanner].
func (s aheadScanner) ScanBlocks(low, high []byte, empty func() core.Block) error {
	parts, err := s.divide(low, high)
	if err != nil {
		return err
	}
	a := &ahead{from: s.Scanner, empty: empty, queue: make(chan *keyPart, len(parts)), gone: make(chan struct{})}
	for _, p := range parts {
		a.queue <- p
	}
	close(a.queue)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer close(a.gone)
	for range min(s.readers, len(parts)) {
		readers.Go(a.read)
	}
	for _, p := range parts {
		if err := p.add(); err != nil {
			return err
		}
	}
	return nil
}

// divide cuts the keys of a kind into parts.
func (s aheadScanner) divide(low, high []byte) (parts []*keyPart, err error) {
	var cuts [][]byte
	if s.cuts != nil {
		if cuts, err = s.cuts(low, high); err != nil {
			return nil, err
		}
	}
	for _, end := range append(cuts, high) {
		parts = append(parts, &keyPart{low: low, high: end, full: make(chan core.Block, blocksMost)})
		low = end
	}
	return parts, nil
}

// add adds the rows of a part, while they are being read.
func (p *keyPart) add() error {
	for b := range p.full {
		if err := b.Add(); err != nil {
			return err
		}
		p.home <- b
	}
	return p.err
}

// read reads one part after the other. Its channel of blocks has room for all of them, and so has that of a part: it waits
// only for a block.
func (a *ahead) read() {
	pool := blockPool{empty: a.empty, free: make(chan core.Block, blocksMost), gone: a.gone}
	for p := range a.queue {
		p.home = pool.free
		p.err = a.fill(p, &pool)
		close(p.full)
	}
}

// fill reads a part into blocks, until its end or until gone is closed. After an error the block that it was filling is
// not handed over.
func (a *ahead) fill(p *keyPart, pool *blockPool) error {
	b, err := pool.take()
	if err != nil {
		return err
	}
	err = a.from.Scan(p.low, p.high, func(key, value []byte) (bool, error) {
		if err := b.Read(key, value); err != nil || !b.IsFull() {
			return true, err
		}
		p.full <- b
		b, err = pool.take()
		return err == nil, err
	})
	if err == nil {
		p.full <- b
	}
	return err
}

// blockPool has the blocks of a reader. They are made as they are needed, so that few rows take little memory.
type blockPool struct {
	empty func() core.Block
	free  chan core.Block
	made  int
	gone  <-chan struct{}
}

// take returns an empty block, as soon as there is one.
func (p *blockPool) take() (core.Block, error) {
	select {
	case <-p.gone:
		return nil, errEnough
	case b := <-p.free:
		return b, nil
	default:
	}
	if p.made < blocksMost {
		p.made++
		return p.empty(), nil
	}
	select {
	case <-p.gone:
		return nil, errEnough
	case b := <-p.free:
		return b, nil
	}
}

// Spread implements [core.BlockScanner].
func (s aheadScanner) Spread(n int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(s.readers, n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}
