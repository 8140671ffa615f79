package server

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/datadir"
)

// TestRefusedStartChangesNothing: when a file beside the parts, or a wrong option, keeps a server from
// starting, not a byte of the directory changes: neither of the log, whose torn tail a start would cut, nor by
// a new file.
func TestRefusedStartChangesNothing(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "data")
	d := openTestData(t, whole)
	commit(t, d, 1, 5)
	mustClose(t, d)
	if _, err := datadir.OpenInstallation(whole); err != nil {
		t.Fatal(err)
	}
	tail := filepath.Join(logPath, "00000000000000000001")
	installation := filepath.Join(whole, datadir.InstallationName)
	for name, tc := range map[string]struct {
		file, text string // "" stands for one that loses its end
		opts       Options
	}{
		"installation damaged":         {file: datadir.InstallationName, text: "{"},
		"installation of a later form": {file: datadir.InstallationName, text: `{"version":2}`},
		"log damaged, in a cluster":    {file: tail, opts: Options{ClusterName: "prod"}},
		"store damaged, in a cluster":  {file: filepath.Join(storePath, "FORMAT"), text: "?", opts: Options{ClusterName: "prod"}},
		"store damaged":                {file: filepath.Join(storePath, "FORMAT"), text: "?"},
		"node damaged":                 {file: datadir.NodeName, text: "{", opts: Options{ClusterName: "prod"}},
		"node alone":                   {file: datadir.NodeName, text: `{"version":1,"node":"a","cluster":"prod","cluster_id":"00112233445566778899aabbccddeeff"}`},
		"later directory":              {file: datadir.PartsName, text: "carillon data directory 3\n"},
		"joining damaged":              {file: filepath.Join(inShard(""), datadir.JoiningName), text: "CJOI"},
		"restoring":                    {file: datadir.RestoringName, text: "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			hit := filepath.Join(t.TempDir(), "hit")
			copyParts(t, whole, hit)
			b, err := os.ReadFile(installation)
			if err == nil {
				err = os.WriteFile(filepath.Join(hit, datadir.InstallationName), b, 0o640)
			}
			if err != nil {
				t.Fatal(err)
			}
			appendTo(t, filepath.Join(hit, tail), "torn")
			if path := filepath.Join(hit, tc.file); tc.text != "" {
				err = os.WriteFile(path, []byte(tc.text), 0o640)
			} else {
				err = os.Truncate(path, 100)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := bytesOf(t, hit)
			opts := tc.opts
			opts.Dir, opts.Logger, opts.Listen, opts.HTTPListen = hit, discard, "127.0.0.1:0", "127.0.0.1:0"
			if opts.ClusterName != "" {
				opts.NATSURL, opts.Listen = "nats://127.0.0.1:1", "" // it does not come so far
			}
			if s, err := Start(t.Context(), opts); err == nil {
				_ = s.Close(t.Context())
				t.Fatal("it started")
			} else {
				t.Log(err)
			}
			if after := bytesOf(t, hit); !maps.Equal(before, after) {
				t.Errorf("the refusal has changed the directory: %s", changes(before, after))
			}
		})
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
