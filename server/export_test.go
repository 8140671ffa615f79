package server

// WithoutSettling returns options with which runs that nobody receives do not wait for those who connect again.
func WithoutSettling(o Options) Options {
	o.settle = -1
	return o
}

// WithSettling returns options with which they do, as by default.
func WithSettling(o Options) Options {
	o.settle = 0
	return o
}
