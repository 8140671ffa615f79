package job

import (
	"strings"
	"testing"
)

// TestCredentialsOfNestedURLs: a target that repeats the password of a URL in a parameter, in whatever form that has, shows
// nothing.
func TestCredentialsOfNestedURLs(t *testing.T) {
	for _, raw := range []string{
		"https://a/?next=https://u:planted@b/", "https://a/?next=https%3A%2F%2Fu%3Aplanted%40b%2F", "https://a/?next=https%253A%252F%252Fu%253Aplanted%2540b",
		"https://a/?next=https%3A%2F%2Fb%2F%3Ftoken%3Dplanted", "https://a/go/https://planted@b/", "https://a/?n=http://b/?m=http://c/?l=http://d/?k=http://e/?token=planted",
	} {
		known := CredentialsOf(nil, Target{Kind: TargetHTTP, URL: raw})
		for _, text := range []string{"no planted", "GET " + raw} {
			if got := known.MaskIn(text); strings.Contains(got, "planted") {
				t.Errorf("of %s, %s becomes %s", raw, text, got)
			}
		}
		d := Definition{Target: Target{Kind: TargetHTTP, URL: raw}}
		shown := d.Masked()
		if back, err := shown.Unmask(&d); err != nil || back.Target.URL != raw || strings.Contains(shown.Target.URL, "planted") {
			t.Errorf("%s is shown as %s and comes back as %s, %v", raw, shown.Target.URL, back.Target.URL, err)
		}
	}
}

// TestMaskInDeepURLs: URLs within one another do not take long, however deep they are.
func TestMaskInDeepURLs(t *testing.T) {
	for _, part := range []string{"?a=http://b", "%2525", "/http://b:c@d", "&a=%3A//%25", "?a=%3A//"} {
		raw := "https://a/" + strings.Repeat(part, (8<<10)/len(part)) + "?token=planted"
		if part == "/http://b:c@d" {
			raw = strings.ReplaceAll(raw, "b:c", "b:planted")
		}
		if masked := MaskURL(raw); strings.Contains(masked, "planted") {
			t.Errorf("%s…: %.100s", part, masked)
		}
	}
}
