package job

// TraceContext identifies a span of a distributed trace, as in W3C Trace Context. The zero value means none. It is
// fixed-size bytes, not the type of a tracing library, so that this package and the store depend on none.
type TraceContext struct {
	Trace [16]byte
	Span  [8]byte
	Flags byte // bit 0: sampled
}

// traceContextBytes is the length of an encoded TraceContext.
const traceContextBytes = 16 + 8 + 1

// IsValid reports whether there is a span: neither of its ids is zero.
func (t TraceContext) IsValid() bool { return t.Trace != [16]byte{} && t.Span != [8]byte{} }

// appendTraceContext appends a span in a fixed number of bytes.
func appendTraceContext(b []byte, t TraceContext) []byte {
	return append(append(append(b, t.Trace[:]...), t.Span[:]...), t.Flags)
}

func (r *rowReader) traceContext() (t TraceContext) {
	if len(r.b) < traceContextBytes {
		r.fail("cut short")
		return t
	}
	copy(t.Trace[:], r.b)
	copy(t.Span[:], r.b[16:])
	t.Flags = r.b[24]
	r.b = r.b[traceContextBytes:]
	return t
}
