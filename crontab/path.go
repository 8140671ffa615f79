package crontab

import "path/filepath"

// HasUserColumn reports whether the crontab at a path has a user column, as /etc/crontab and the files of a cron.d
// directory have. Only the path is looked at, not the file; a relative path is taken from the working directory. The
// content cannot say it: a user column looks like the first word of a command. A path that cannot be made absolute
// counts as that of a user's crontab.
func HasUserColumn(file string) bool {
	file, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	dir, base := filepath.Split(file)
	parent := filepath.Base(dir)
	return parent == "cron.d" || parent == "etc" && base == "crontab"
}

// IsAnacron reports whether the file at a path is the table of anacron (period, delay, name, command), some of whose
// lines would pass for those of a crontab. Only the path is looked at.
func IsAnacron(file string) bool { return filepath.Base(file) == "anacrontab" }
