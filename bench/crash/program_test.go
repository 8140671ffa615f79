package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "carillon")
	if err := os.WriteFile(binary, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args string
		want string // in the error; "" is none
	}{
		{"--cycles 5 --seed 7", ""},
		{"--embedded", ""},
		{"--cycles 0", "want 1 to"},
		{"--cycles 1000000", "want 1 to"},
		{"--clients 0", "want 1 to"},
		{"--seed -1", "invalid value"},
		{"surplus", "unknown argument"},
		{"--binary /nowhere/at/all", "make build"},
		{"--binary " + filepath.Dir(binary), "is a directory"},
	}
	for _, tt := range tests {
		o, err := parse(append([]string{"--binary", binary}, strings.Fields(tt.args)...), io.Discard)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.args, err)
		case tt.want == "" && (o.seed == 0 || !strings.Contains(o.command(), "--seed")):
			t.Errorf("%s: the command %q does not repeat the run", tt.args, o.command())
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want %q", tt.args, err, tt.want)
		}
	}
}
