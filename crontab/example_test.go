package crontab_test

import (
	"fmt"

	"github.com/carillon-io/carillon/crontab"
)

func ExampleReader_Read() {
	const path, text = "/etc/cron.d/backup", `
CRON_TZ=Europe/Berlin
30 2 * * *  root  rsync -a /srv /mnt
@reboot     root  mount /mnt
`
	names := crontab.NewNames(path)
	reader := crontab.Reader{System: crontab.HasUserColumn(path), Zone: "UTC"}
	for entry, refusal := range reader.Read(text) {
		if refusal != nil {
			fmt.Printf("%s:%d: %v\n", path, refusal.Line, refusal)
			continue
		}
		fmt.Printf("%s: %s runs %q at %s in %s\n", names.Next(entry), entry.User, entry.Command, entry.Schedule, entry.Zone)
	}
	// Output:
	// backup/rsync-15ab4531: root runs "rsync -a /srv /mnt" at 30 2 * * * in Europe/Berlin
	// /etc/cron.d/backup:4: @reboot means the start of a machine, which is no time on a clock; let that machine's init system start the command
}
