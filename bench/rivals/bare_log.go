package main

import (
	"encoding/json"
	"os"
	"sync"

	"github.com/nats-io/nats.go"
)

// bareFile is the name of the file with the requests.
const bareFile = "requests"

// bareLog writes requests down. Those that come while a sync is under way share the next one.
type bareLog struct {
	file *os.File
	wake chan struct{}

	mu      sync.Mutex
	waiting []*nats.Msg
}

func openBareLog(path string) (*bareLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &bareLog{file: file, wake: make(chan struct{}, 1)}, nil
}

// take checks a request, and has it written.
func (l *bareLog) take(m *nats.Msg) {
	if !json.Valid(m.Data) {
		bareAnswer(m, "that is no JSON")
		return
	}
	l.mu.Lock()
	l.waiting = append(l.waiting, m)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run writes, syncs and answers, for as long as the process lives.
func (l *bareLog) run() {
	var group []*nats.Msg
	var text []byte
	for range l.wake {
		l.mu.Lock()
		group, l.waiting = l.waiting, group[:0]
		l.mu.Unlock()
		if len(group) == 0 {
			continue
		}
		text = text[:0]
		for _, m := range group {
			text = append(append(text, m.Data...), '\n')
		}
		if _, err := l.file.Write(text); err != nil {
			bareEnd("write", err)
		}
		if err := l.file.Sync(); err != nil {
			bareEnd("sync", err)
		}
		for i, m := range group {
			bareAnswer(m, "")
			group[i] = nil
		}
	}
}
