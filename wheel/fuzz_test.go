package wheel

import "testing"

// FuzzTwin lets the fuzzer choose the operations of the twin. The bytes are its choices, one after the
// other, and their end is the end of the run.
func FuzzTwin(f *testing.F) {
	f.Add([]byte{}, uint8(2), int64(0))
	f.Add([]byte("a wheel of four slots, and some bytes to choose what is done to it"), uint8(1), int64(250))
	f.Add([]byte{3, 0, 0, 1, 2, 3, 200, 100, 0, 0, 1, 9, 4, 4, 4, 0, 1, 0, 63, 1, 1}, uint8(7), int64(1)<<32-1)
	f.Fuzz(func(t *testing.T, choices []byte, slotBits uint8, now int64) {
		draw := func(n int) int {
			choice := 0
			for reach := 1; reach < n && len(choices) > 0; reach <<= 8 {
				choice = choice<<8 | int(choices[0])
				choices = choices[1:]
			}
			return choice % n
		}
		tw := newTwin(t, Tick(max(now, 0)), 1+uint(slotBits)%8, draw)
		for len(choices) > 0 {
			tw.step()
			check(t, tw.w)
		}
	})
}
