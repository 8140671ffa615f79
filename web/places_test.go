package web

import "testing"

// TestBodiesAreBoundedInBytes: tenants share the bytes of the bodies that are read, and one that reads none finds room until
// all is taken.
func TestBodiesAreBoundedInBytes(t *testing.T) {
	const body, room = 1 << 20, 16 << 20
	p := newPlaces(1000, room)
	fill := func(tenant string) (n int) {
		for p.take(tenant, body) == nil {
			n++
		}
		return n
	}
	if n := fill("loud"); n != 12 {
		t.Errorf("one tenant has %d of 16 bodies; want three quarters", n)
	}
	for range 3 {
		if fill("quiet") == 0 {
			t.Error("a tenant without a body finds no room")
		}
		p.free("quiet", body)
	}
	if p.take("huge", room) == nil {
		t.Error("more is read than there is room for")
	}
	for tenant, held := range p.bytesBy {
		for range held / body {
			p.free(tenant, body)
		}
	}
	if p.bytes != 0 || len(p.bytesBy) != 0 || p.take("huge", room) != nil {
		t.Errorf("%d bytes are held at the end, by %v", p.bytes, p.bytesBy)
	}
}
