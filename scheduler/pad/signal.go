package pad

// signal sends to a channel of capacity 1, without blocking: one signal waits at most.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
