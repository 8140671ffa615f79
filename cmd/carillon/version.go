package main

import (
	"runtime"
	"runtime/debug"

	"github.com/carillon-io/carillon/schedule"
)

// version is set by the linker in a release build. Without it the version of the module is shown, or "dev".
var version string

// versionCmd prints which build this is.
type versionCmd struct {
	outputFlag
}

// Help is what `carillon version --help` says besides the flags.
func (*versionCmd) Help() string {
	return `Examples:

  carillon version
  carillon version -o json`
}

// build is the JSON of the command: what the binary was built from. The names of its fields are part of the output and
// do not change.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the sources differed from the revision
	Built    string `json:"built_from,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	TZData   string `json:"tzdata"` // version of the timezone database in the binary
}

// Run implements the command.
func (c *versionCmd) Run(con *console) error {
	b := buildVersion()
	if c.isDocument() {
		return c.print(con, b)
	}
	con.printf("carillon %s\n", b.Version)
	rows := con.table()
	rows.Row("revision", orDash(b.Revision))
	rows.Row("commit time", orDash(b.Built))
	rows.Row("go", b.Go)
	rows.Row("platform", b.Platform)
	rows.Row("tzdata", b.TZData+", embedded")
	return rows.Flush()
}

// buildVersion returns the version that the linker set; if there is none, what the Go command recorded in the
// binary. The tzdata is that of the binary; a server that uses the machine's shows it in its status.
func buildVersion() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, TZData: schedule.EmbeddedZones().Version()}
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.time":
				b.Built = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
		// A binary that go install has made has the version of its module.
		if v := info.Main.Version; b.Version == "" && v != "(devel)" {
			b.Version = v
		}
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	return b
}
