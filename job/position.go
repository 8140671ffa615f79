package job

import "fmt"

// Position is a place in the log: the LSN of the commit that ends there, the epoch of the leadership that wrote it,
// and the hash of its frame, which by chaining covers everything before it. The zero value is the beginning of a log.
// Two logs with an equal position have equal commits up to it; an LSN alone does not prove that, because two leaders
// may have given the same one.
type Position struct {
	LSN   uint64
	Epoch uint64
	Hash  [16]byte
}

// String returns the position as epoch/LSN:hash.
func (p Position) String() string { return fmt.Sprintf("%d/%d:%x", p.Epoch, p.LSN, p.Hash) }
