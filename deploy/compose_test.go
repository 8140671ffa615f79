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
	Volumes map[string]any    `yaml:"volumes"`
	Secrets map[string]secret `yaml:"secrets"`
}

// secret is one of a file of compose.
type secret struct {
	File string `yaml:"file"`
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
			if !slices.Equal(s.Health.Test, []string{"CMD", "/usr/bin/carillon", "ready", "--timeout", "5s"}) {
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
			if token, ok := s.Environment["CARILLON_TOKEN"]; ok {
				t.Errorf("%s: %s: the container has the token %q; want none, because nothing in it needs one", name, service, token)
			}
			checkComposedSecrets(t, name+": "+service, s.Secrets, s.Environment, file.Secrets)
			for _, port := range s.Ports {
				if !strings.HasPrefix(port, "127.0.0.1:") {
					t.Errorf("%s: %s: the port %s is open to all", name, service, port)
				}
			}
		}
	}
}

// checkComposedSecrets: a service has exactly the secrets that its settings name, and each of them is a file beside the file
// of compose.
func checkComposedSecrets(t *testing.T, who string, has []string, settings map[string]string, defined map[string]secret) {
	t.Helper()
	var wants []string
	for _, value := range settings {
		if name, ok := strings.CutPrefix(value, "/run/secrets/"); ok {
			wants = append(wants, name)
		}
	}
	slices.Sort(wants)
	if has = slices.Sorted(slices.Values(has)); !slices.Equal(has, wants) || settings["CARILLON_AUTH"] != "/run/secrets/auth" {
		t.Errorf("%s: has the secrets %q; its settings name %q", who, has, wants)
	}
	for _, name := range has {
		if want := fileOf(name); defined[name].File != want {
			t.Errorf("%s: the secret %s is the file %q; want %q", who, name, defined[name].File, want)
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
		for setting, want := range map[string]string{"CERT": name + ".crt", "KEY": name + ".key", "CA": "ca.crt"} {
			if got := s.Environment["CARILLON_CLUSTER_TLS_"+setting]; got != "/run/secrets/"+want {
				t.Errorf("%s: CARILLON_CLUSTER_TLS_%s is %q; want the secret %s, as each node has a key of its own", name, setting, got, want)
			}
		}
		if s.Environment["CARILLON_WITNESS"] == "true" {
			witnesses++
		}
	}
	if witnesses != 1 {
		t.Errorf("%d witnesses; want one", witnesses)
	}
}

// fileOf returns the file that a secret must have: the names are those that `carillon auth certs` gives, for peers.
func fileOf(secret string) string {
	node, kind, _ := strings.Cut(secret, ".")
	switch node {
	case "auth":
		return "./auth.yaml"
	case "ca":
		return "./tls/peers-ca." + kind
	}
	return "./tls/" + node + "-peer." + kind
}
