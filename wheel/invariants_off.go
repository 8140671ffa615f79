//go:build !invariants

package wheel

// The checks of invariants_on.go cost a comparison for each timer and level, so only builds with the tag
// invariants have them. Here they compile to nothing.
func (w *Wheel) assertDue(Tick) {}
func (w *Wheel) assertDrained() {}
