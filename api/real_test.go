package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// realWorld is a whole server, and a caller who knows it by what it publishes of itself.
type realWorld struct {
	t       *testing.T
	nc      *nats.Conn
	schemas map[string]map[string]string // by verb
	refusal string
	done    map[string]int // how often a verb answered
	refused map[string]int
}

func startReal(t *testing.T) *realWorld {
	t.Helper()
	s, err := server.Start(t.Context(), server.Options{
		Dir: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(s.Ready().NATS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		_ = s.Close(context.Background())
	})
	w := &realWorld{t: t, nc: nc, schemas: map[string]map[string]string{}, done: map[string]int{}, refused: map[string]int{}}
	msg, err := nc.Request("$SRV.INFO.carillon", nil, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var info micro.Info
	if err := json.Unmarshal(msg.Data, &info); err != nil {
		t.Fatal(err)
	}
	for _, e := range info.Endpoints {
		w.schemas[strings.TrimPrefix(e.Subject, "carillon.v1.*.")] = e.Metadata
	}
	text, err := json.Marshal(api.RefusalSchema())
	if err != nil {
		t.Fatal(err)
	}
	w.refusal = string(text)
	return w
}

// ask sends a request and holds the reply against the schemas: a refusal against that of refusals, any other
// against that of its verb; and a request that was accepted against that of requests.
func (w *realWorld) ask(verb, request string) (reply []byte, refused bool) {
	w.t.Helper()
	msg, err := w.nc.Request("carillon.v1.default."+verb, []byte(request), 10*time.Second)
	if err != nil {
		w.t.Fatalf("%s: %v", verb, err)
	}
	what := fmt.Sprintf("%s %.300s", verb, request)
	if code := msg.Header.Get(micro.ErrorCodeHeader); code != "" {
		w.refused[verb]++
		if err := apitest.Conforms(w.refusal, string(msg.Data)); err != nil {
			w.t.Errorf("%s: the refusal is none: %v in %s", what, err, msg.Data)
		}
		if n, err := strconv.Atoi(code); err != nil || n < 400 || n > 599 || msg.Header.Get(micro.ErrorHeader) == "" {
			w.t.Errorf("%s: refused with %v", what, msg.Header)
		}
		return msg.Data, true
	}
	w.done[verb]++
	if err := apitest.Conforms(w.schemas[verb]["response_schema"], string(msg.Data)); err != nil {
		w.t.Errorf("%s: the reply breaks its schema: %v in %.2000s", what, err, msg.Data)
	}
	if request == "" {
		request = "{}"
	}
	if err := apitest.Conforms(w.schemas[verb]["request_schema"], request); err != nil {
		w.t.Errorf("%s: was accepted, and breaks its schema: %v", what, err)
	}
	return msg.Data, false
}

// must sends a request that is to be accepted, and reads what is at a path of the reply.
func (w *realWorld) must(verb, request string, path ...string) any {
	w.t.Helper()
	reply, refused := w.ask(verb, request)
	if refused {
		w.t.Fatalf("%s %s: %s", verb, request, reply)
	}
	var v any
	if err := json.Unmarshal(reply, &v); err != nil {
		w.t.Fatal(err)
	}
	for _, name := range path {
		v = v.(map[string]any)[name]
	}
	return v
}

// becomes asks until what is at a path of the reply is one of some words.
func (w *realWorld) becomes(words, verb, request string, path ...string) {
	w.t.Helper()
	testkit.Retry(w.t, verb+" "+request, func(context.Context) error {
		if got := fmt.Sprint(w.must(verb, request, path...)); !strings.Contains(words, got) {
			return fmt.Errorf("%v is %s, want %s", path, got, words)
		}
		return nil
	})
}

const (
	wholeJob = `{"name":"whole","schedules":["0 8 * * 1-5","@every 1h"],"exclude":["2026-12-25","@calendar days"],"timezone":"Europe/Berlin",` +
		`"starts_at":"2026-01-01T00:00:00Z","ends_at":null,"max_runs":0,"jitter":"1s","target":{"kind":"jetstream","subject":"out"},` +
		`"payload":{"a":[1,null]},"headers":{"X-A":"b"},"completion":"delivered","attempt_timeout":"30s",` +
		`"retry":{"max_attempts":3,"initial_interval":"1s","multiplier":1.5,"max_interval":"5m","max_age":"0s","jitter":0,"client_errors":true},` +
		`"pause_on_failure":3,"overlap_policy":"allow","max_concurrent":2,"missed_run_policy":"backfill","catchup_window":"1h","max_catchup_runs":10,` +
		`"paused":false,"labels":{"team":"billing"},"description":"All of it."}`
	workedJob = `{"name":"worked","schedule":"@every 1h","target":{"kind":"nats","subject":"work"},"completion":"reported"}`
	dyingJob  = `{"name":"dying","schedule":"@every 1h","target":{"kind":"request","subject":"nobody"},"retry":{"max_attempts":1}}`
)

// TestRealReplies asks a whole server for all that it can be asked for, well and badly: each reply is as the
// schemas say that the server publishes, and so is each request that it accepts.
func TestRealReplies(t *testing.T) {
	w := startReal(t)
	w.all()
	w.badly()
	for verb := range w.schemas {
		if w.done[verb] == 0 || w.refused[verb] == 0 {
			t.Errorf("%s was carried out %d times and refused %d times", verb, w.done[verb], w.refused[verb])
		}
	}
}

// all asks for each verb, so that each member of the replies occurs.
func (w *realWorld) all() {
	work, err := w.nc.SubscribeSync("work")
	if err != nil {
		w.t.Fatal(err)
	}
	w.must("calendars.put", `{"name":"days","exclude":["2026-12-24"],"description":"Off."}`)
	w.must("calendars.get", `{"name":"days"}`)
	w.must("calendars.list", "")
	w.must("jobs.put", wholeJob)
	w.must("jobs.put", strings.Replace(wholeJob, `"All of it."`, `"Changed."`, 1))
	once := fmt.Sprintf(`{"name":"once","schedule":"@at %s","target":{"kind":"nats","subject":"out"},"payload_base64":"aGk="}`,
		time.Now().Add(200*time.Millisecond).UTC().Format(time.RFC3339Nano))
	never := strings.Replace(dyingJob, "@every 1h", "@never", 1) // rejected by itself
	w.must("jobs.put_many", `{"jobs":[`+workedJob+`,`+dyingJob+`,`+once+`,`+never+`]}`)
	w.becomes("completed", "jobs.get", `{"name":"once"}`, "job", "status")
	w.must("jobs.list", `{"prefix":"w","labels":{"team":"billing"},"status":"active","limit":1}`)
	w.must("jobs.list", "")
	w.must("schedules.next", `{"schedule":"30 2 * * *","timezone":"Europe/Berlin","after":"2026-03-28T00:00:00Z","count":3}`)
	w.must("jobs.backfill", `{"name":"whole","from":"2026-01-05T00:00:00Z","to":"2026-01-05T02:30:00Z","limit":1}`)
	w.must("jobs.trigger", `{"name":"worked","payload":[1],"idempotency_key":"k"}`)
	m, err := work.NextMsg(10 * time.Second)
	if err != nil {
		w.t.Fatal(err)
	}
	held := fmt.Sprintf(`"run_id":%q,"fence":%s`, m.Header.Get("Carillon-Run-Id"), m.Header.Get("Carillon-Fence"))
	w.must("runs.extend", `{`+held+`,"by":"1m"}`)
	w.must("runs.get", fmt.Sprintf(`{"run_id":%q}`, m.Header.Get("Carillon-Run-Id")))
	w.must("runs.report", `{`+held+`,"status":"succeeded","result":"5 rows"}`)
	w.must("jobs.trigger", `{"name":"worked"}`)
	if m, err = work.NextMsg(10 * time.Second); err != nil {
		w.t.Fatal(err)
	}
	w.must("runs.cancel", fmt.Sprintf(`{"run_id":%q}`, m.Header.Get("Carillon-Run-Id")))
	run := fmt.Sprintf(`{"run_id":%q}`, w.must("jobs.trigger", `{"name":"dying"}`, "run", "run_id"))
	w.becomes("dead", "runs.get", run, "run", "status")
	w.must("runs.list", `{"status":"dead","attempts":true}`)
	w.must("runs.retry", run)
	w.becomes("dead", "runs.get", run, "run", "status")
	w.must("runs.retry_many", `{"job":"dying","limit":10}`)
	w.becomes("dead", "runs.get", run, "run", "status")
	w.must("runs.dismiss", run[:len(run)-1]+`,"reason":"known"}`)
	w.must("runs.get", run)
	w.must("runs.dismiss_many", `{"job":"dying","limit":10,"reason":"known"}`)
	w.must("runs.list", `{"job":"dying","from":"2020-01-01T00:00:00Z","limit":1}`)
	w.must("jobs.pause", `{"name":"whole","reason":"because"}`)
	w.must("jobs.resume", `{"name":"whole"}`)
	w.must("audit.list", "")
	w.must("audit.list", `{"name":"whole","action":"update","limit":10}`)
	w.must("status", "")
	w.must("whoami", "")
	w.must("jobs.delete", `{"name":"dying"}`)
	w.must("jobs.delete", `{"name":"whole"}`)
	w.must("calendars.delete", `{"name":"days"}`)
}

// badly asks for each verb in ways that it must refuse.
func (w *realWorld) badly() {
	for verb := range w.schemas {
		for _, request := range []string{`{"nothing":1}`, `[]`, `{`, `null`, `"x"`} {
			if reply, refused := w.ask(verb, request); !refused {
				w.t.Errorf("%s %s was accepted: %s", verb, request, reply)
			}
		}
	}
	for _, x := range [][2]string{
		{"jobs.get", `{"name":"missing"}`}, {"jobs.delete", `{"name":"missing"}`}, {"jobs.pause", `{"name":"a b"}`},
		{"jobs.put", strings.Replace(workedJob, "@every 1h", "61 * * * *", 1)}, {"jobs.put", workedJob[:len(workedJob)-1] + `,"if_version":0}`},
		{"jobs.put", workedJob[:len(workedJob)-1] + `,"if_version":77}`}, {"runs.get", `{"run_id":"x"}`},
		{"runs.report", `{"run_id":"1-1","fence":1,"status":"odd"}`}, {"schedules.next", `{"schedule":"@daily","timezone":"Mars/Base"}`},
		{"jobs.list", `{"cursor":"x"}`}, {"calendars.get", `{"name":"missing"}`},
	} {
		if reply, refused := w.ask(x[0], x[1]); !refused {
			w.t.Errorf("%s %s was accepted: %s", x[0], x[1], reply)
		}
	}
}
