package job

import (
	"testing"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/testkit"
)

// TestSightComesBack: what a viewer got of a job is no definition: each mask in it is refused by its place. The masks of
// credentials stay, for the stored ones.
func TestSightComesBack(t *testing.T) {
	whole := Defaults()
	whole.Tenant, whole.Name, whole.Schedule = "default", "a", "@yearly"
	whole.Target = Target{Kind: TargetHTTP, URL: "https://example.com/hooks/7?page=1", Method: "POST"}
	whole.Headers = []Pair{{Key: "X-Team", Value: "billing"}, {Key: "X-Api-Key", Value: Mask}}
	if err := whole.Validate(Rules{PayloadBytesMax: 100}); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(d *Definition){
		"headers.X-Team": func(d *Definition) { d.Headers = d.MaskedForViewers().Headers },
		"target.url":     func(d *Definition) { d.Target.URL = d.MaskedForViewers().Target.URL },
		"payload":        func(d *Definition) { d.Payload = []byte(Mask) },
	} {
		d := whole
		change(&d)
		err := d.Validate(Rules{PayloadBytesMax: 100})
		testkit.Refuses(t, err, "is the mask "+Mask)
		if e := apierr.From(err); e.Code != apierr.InvalidField || e.Field != field {
			t.Errorf("%s: %s on %q", field, e.Code, e.Field)
		}
	}
	for what, change := range map[string]func(d *Definition){
		"JSON":               func(d *Definition) { d.Payload, d.PayloadJSON = []byte(`"`+Mask+`"`), true },
		"a changed one":      func(d *Definition) { d.Headers = []Pair{{Key: "X-Team", Value: MaskChanged}} },
		"an escaped path":    func(d *Definition) { d.Target.URL = "https://example.com/%2A%2A%2A%2A%2A%2A%2A%2A" },
		"a part of the path": func(d *Definition) { d.Target.URL = "https://example.com/" + Mask + "/7" },
		"no URL":             func(d *Definition) { d.Target.URL = Mask },
	} {
		d := whole
		change(&d)
		if err := d.Validate(Rules{PayloadBytesMax: 100}); err == nil || apierr.From(err).Code != apierr.InvalidField {
			t.Errorf("%s: %v", what, err)
		}
	}
}
