package deploy

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// composed is a file of compose, as far as it is checked.
type composed struct {
	Services map[string]struct {
		Image       string            `yaml:"image"`
		Environment map[string]string `yaml:"environment"`
		Ports       []string          `yaml:"ports"`
		Volumes     []string          `yaml:"volumes"`
		Secrets     []string          `yaml:"secrets"`
		Grace       time.Duration     `yaml:"stop_grace_period"`
		ReadOnly    bool              `yaml:"read_only"`
		CapDrop     []string          `yaml:"cap_drop"`
		Health      struct {
			Test []string `yaml:"test"`
		} `yaml:"healthcheck"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
	Secrets map[string]any `yaml:"secrets"`
}

// TestCompose: each service keeps its data, can be stopped in good order, is open to this machine only, and
// asks itself how it is without a shell.
func TestCompose(t *testing.T) {
	for _, name := range []string{"compose.yaml", "compose.cluster.yaml"} {
		taken := map[string]string{}
		file := parse[composed](t, "deploy", "compose", name)[0]
		for service, s := range file.Services {
			if s.Grace < stopTimeout+afterStop || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) {
				t.Errorf("%s: %s: %+v", name, service, s)
			}
			if len(s.Health.Test) < 3 || s.Health.Test[0] != "CMD" || s.Health.Test[1] != "/usr/bin/carillon" {
				t.Errorf("%s: %s: its health is asked by %q", name, service, s.Health.Test)
			}
			volume, at, _ := strings.Cut(s.Volumes[0], ":")
			if _, ok := file.Volumes[volume]; !ok || at != "/data" {
				t.Errorf("%s: %s: its data are in %q", name, service, s.Volumes)
			}
			for _, use := range append(s.Ports, volume) {
				if other, ok := taken[use]; ok {
					t.Errorf("%s: %s and %s both have %s", name, service, other, use)
				}
				taken[use] = service
			}
			if _, ok := file.Secrets["auth"]; !ok || !slices.Equal(s.Secrets, []string{"auth"}) || s.Environment["CARILLON_AUTH"] != "/run/secrets/auth" {
				t.Errorf("%s: %s: its rights are %q in %v", name, service, s.Environment["CARILLON_AUTH"], s.Secrets)
			}
			if token := s.Environment["CARILLON_TOKEN"]; !strings.HasPrefix(token, "${CARILLON_TOKEN:?") {
				t.Errorf("%s: %s: the token of its health check is %q; want one that whoever starts it must give", name, service, token)
			}
			for _, port := range s.Ports {
				if !strings.HasPrefix(port, "127.0.0.1:") {
					t.Errorf("%s: %s: the port %s is open to all", name, service, port)
				}
			}
		}
	}
}

// TestComposedCluster: every service is a node by its own name, all have the same routes, which lead to each
// of them, and one is a witness.
func TestComposedCluster(t *testing.T) {
	services := parse[composed](t, "deploy", "compose", "compose.cluster.yaml")[0].Services
	names := slices.Sorted(maps.Keys(services))
	if len(names) != 3 {
		t.Fatalf("services %q; want three", names)
	}
	witnesses := 0
	for name, s := range services {
		if s.Environment["CARILLON_NODE"] != name || s.Environment["CARILLON_CLUSTER_LISTEN"] != "0.0.0.0:6222" {
			t.Errorf("%s: %v", name, s.Environment)
		}
		if routes := s.Environment["CARILLON_ROUTES"]; routes != strings.Join(names, ":6222,")+":6222" {
			t.Errorf("%s: the routes are %s", name, routes)
		}
		if password := s.Environment["CARILLON_CLUSTER_PASSWORD"]; !strings.HasPrefix(password, "${CARILLON_CLUSTER_PASSWORD:?") {
			t.Errorf("%s: the password is %q; want one that whoever starts it must give", name, password)
		}
		if s.Environment["CARILLON_WITNESS"] == "true" {
			witnesses++
		}
	}
	if witnesses != 1 {
		t.Errorf("%d witnesses; want one", witnesses)
	}
}
