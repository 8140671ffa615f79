package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// recordedRun is a run as `carillon run list -o json` prints it.
type recordedRun struct {
	ID          string    `json:"run_id"`
	Job         string    `json:"job"`
	ScheduledAt time.Time `json:"scheduled_at"`
	Status      string    `json:"status"`
	Result      string    `json:"result"`
	Error       string    `json:"error"`

	line string // its line's id
}

// lineOf finds the line in a command.
var lineOf = regexp.MustCompile(`--id (line\d+)`)

// read reads the notes of both sides and Carillon's runs, those of the window alone.
func (r *rig) read(ctx context.Context, s *sight) (err error) {
	if s.ours, err = readNotes(r.notesDir()); err != nil {
		return err
	}
	if s.cron, err = readNotes(r.notesDir() + ".cron"); err != nil {
		return err
	}
	var list struct {
		Jobs []struct {
			Name    string `json:"name"`
			Payload struct {
				Command string `json:"command"`
			} `json:"payload"`
		} `json:"jobs"`
	}
	if err := r.carillon(&list, "job", "list", "--limit", "0", "-o", "json"); err != nil {
		return err
	}
	if len(list.Jobs) != len(r.table) {
		return fmt.Errorf("the import made %d jobs of %d lines", len(list.Jobs), len(r.table))
	}
	for _, job := range list.Jobs {
		var page struct {
			Runs []recordedRun `json:"runs"`
		}
		err := r.carillon(&page, "run", "list", job.Name, "--limit", "0", "-o", "json",
			"--from", s.from.Format(time.RFC3339), "--to", s.to.Format(time.RFC3339))
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		line := lineOf.FindStringSubmatch(job.Payload.Command)
		if line == nil {
			return fmt.Errorf("job %s has the command %q", job.Name, job.Payload.Command)
		}
		for _, run := range page.Runs {
			run.line = line[1]
			s.runs = append(s.runs, run)
		}
	}
	return nil
}

// readNotes reads the notes of one side. Of the two lines of a command the second replaces the first; a command that has
// not ended keeps its first.
func readNotes(dir string) ([]note, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var notes []note
	for _, path := range files {
		of, err := readFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		notes = append(notes, of...)
	}
	return notes, nil
}

func readFile(path string) ([]note, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var notes []note
	at := map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var n note
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		key := fmt.Sprint(n.PID, n.Began.UnixNano())
		if i, again := at[key]; again {
			notes[i] = n
			continue
		}
		at[key] = len(notes)
		notes = append(notes, n)
	}
	return notes, lines.Err()
}
