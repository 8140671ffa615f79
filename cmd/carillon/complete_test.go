package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCompletion completes lines: commands, flags, values of flags, and values that are looked up.
func TestCompletion(t *testing.T) {
	lookUp := func(kind valueKind) []candidate {
		switch kind {
		case zones:
			return lookUp(t.Context(), nil, &line{}, zones) // which needs no server
		case jobLabels:
			return []candidate{{value: "found-labels"}, {value: "team=a"}}
		}
		return []candidate{{value: "found-" + strings.TrimPrefix(string(kind), "@")}, {value: "other"}}
	}
	root := testParser(t).Model.Node
	for line, want := range map[string]string{
		"jo":                                 "job",
		"job l":                              "list",
		"job list --sta":                     "--status --standby",
		"job list --status p":                "paused",
		"job list --status=p":                "--status=paused",
		"job list -o ":                       "table json yaml",
		"job list --output = y":              "--output=yaml",
		"job list --output =":                "--output=table --output=json --output=yaml",
		"job get f":                          "found-jobs",
		"job get x ":                         "",
		"job delete a b f":                   "found-jobs",
		"run list --status dead f":           "found-jobs",
		"run list --dead -w f":               "found-jobs",
		"run retry --dead --job ":            "found-jobs other",
		"status --context ":                  "found-contexts other",
		"restore ":                           filesFit,
		"apply -f ":                          filesFit,
		"apply --file=":                      filesFit,
		"completion ":                        "bash zsh fish",
		"--color ":                           "auto always never",
		"--color never run can":              "cancel",
		"import --no":                        "--no-system",
		"backup --verif":                     "--verify",
		"backup ver":                         "verify",
		"run report id ":                     "succeeded failed",
		"job put -- --sta":                   "",
		"job list --nonsense ":               "",
		"__comp":                             "",
		"job put x --overlap=b":              "--overlap=buffer_one --overlap=buffer_all",
		"job list --label a = b --limit 3 -": "",
		"job put x -z Europe/Berl":           "Europe/Berlin",
		"job next --timezone=Asia/Toky":      "--timezone=Asia/Tokyo",
		"job list --label f":                 "found-labels",
		"job put x -l team = a":              "team=a",
		"calendar get f":                     "found-calendars",
		"calendar put f":                     "found-calendars",
		"calendar delete a f":                "found-calendars",
		"handover --to f":                    "found-nodes",
		"run get f":                          "found-runs",
		"run retry a f":                      "found-dead-runs",
		"run cancel f":                       "found-live-runs",
		"run report f":                       "found-live-runs",
		"run extend f":                       "found-live-runs",
	} {
		var got []string
		for _, c := range readLine(root, splitWords(line)).candidates(lookUp) {
			got = append(got, c.value)
		}
		if strings.HasSuffix(line, " -") {
			if !slices.Contains(got, "--label") || !slices.Contains(got, "--color") {
				t.Errorf("%q: %q misses flags", line, got)
			}
			continue
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// splitWords splits a line at its blanks. A blank at the end begins an empty word.
func splitWords(line string) []string { return strings.Split(line, " ") }

// TestCompletionKeepsTheServer: a look-up uses the server flags of the line.
func TestCompletionKeepsTheServer(t *testing.T) {
	l := readLine(testParser(t).Model.Node, splitWords("job list --server nats://x --tenant=a --standby --limit 3 --output json --name-prefix "))
	if want := []string{"--server=nats://x", "--tenant=a", "--standby=true"}; !slices.Equal(l.server, want) {
		t.Errorf("got %q, want %q", l.server, want)
	}
	if l.value == nil || l.value.Name != "name-prefix" {
		t.Errorf("the last word is the value of %v", l.value)
	}
}

// TestCompletionScripts lets each shell that is installed read its script.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell + " is not installed")
			}
			script, err := completionScripts.ReadFile("completion/carillon." + shell)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, "-n", "/dev/stdin")
			cmd.Stdin = strings.NewReader(string(script))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
