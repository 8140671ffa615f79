package deploy

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// rule is an alert.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	file := parse[struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}](t, "deploy", "prometheus", "alerts.yaml")[0]
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// TestAlerts: each alert says how bad it is, what is the matter and what to do, and has a test in which it
// fires.
func TestAlerts(t *testing.T) {
	tests := parse[struct {
		Tests []struct {
			Alerts []struct {
				Name string           `yaml:"alertname"`
				Want []map[string]any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}](t, "deploy", "prometheus", "alerts_test.yaml")[0].Tests
	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, one := range tests {
		for _, a := range one.Alerts {
			if len(a.Want) > 0 {
				fires[a.Name] = true
			} else {
				quiet[a.Name] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range rules(t) {
		if seen[r.Alert] || !regexp.MustCompile(`^Carillon[A-Za-z]+$`).MatchString(r.Alert) {
			t.Errorf("the name %q is there twice, or none of ours", r.Alert)
		}
		seen[r.Alert] = true
		if s := r.Labels["severity"]; s != "warning" && s != "critical" {
			t.Errorf("%s: severity %q", r.Alert, s)
		}
		if r.Annotations["summary"] == "" || r.Annotations["action"] == "" {
			t.Errorf("%s says not what is the matter, or not what to do", r.Alert)
		}
		if !fires[r.Alert] || !quiet[r.Alert] {
			t.Errorf("%s: no test in which it fires, or none in which it does not", r.Alert)
		}
	}
}

// TestPromtool runs the tests of the alerts, where promtool is installed.
func TestPromtool(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not installed; deploy/prometheus/check.sh fetches it on Debian")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), "promtool", args...)
		cmd.Dir = "prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// board is a dashboard, as far as it is checked.
type board struct {
	UID    string `json:"uid"`
	Panels []struct {
		ID     int    `json:"id"`
		Type   string `json:"type"`
		Title  string `json:"title"`
		Source struct {
			UID string `json:"uid"`
		} `json:"datasource"`
		At struct {
			X, Y, W, H int
		} `json:"gridPos"`
		Targets []struct {
			RefID string `json:"refId"`
			Expr  string `json:"expr"`
		} `json:"targets"`
	} `json:"panels"`
}

func dashboard(t *testing.T) (b board) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, "deploy", "grafana", "carillon.json")), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDashboard: panels have a place of their own, and ask the source of data that is chosen.
func TestDashboard(t *testing.T) {
	taken := map[[2]int]string{}
	ids := map[int]bool{}
	for _, p := range dashboard(t).Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q: its id is there twice, or it has no title", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.At.X; x < p.At.X+p.At.W; x++ {
			for y := p.At.Y; y < p.At.Y+p.At.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("%q lies on %q, or outside, at %d, %d", p.Title, other, x, y)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" && (p.Source.UID != "${datasource}" || len(p.Targets) == 0) {
			t.Errorf("%q asks %q for %d series", p.Title, p.Source.UID, len(p.Targets))
		}
	}
}
