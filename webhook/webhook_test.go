package webhook

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// The vector of Standard Webhooks' own tests.
const (
	vectorKey       = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	vectorID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorTimestamp = 1614265330
	vectorBody      = `{"test": 2432232314}`
	vectorSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

func keysOf(t *testing.T, text string) []Key {
	t.Helper()
	keys, err := ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestVector: signatures are those of other implementations.
func TestVector(t *testing.T) {
	keys := keysOf(t, vectorKey)
	if got := Sign(keys, vectorID, time.Unix(vectorTimestamp, 0), []byte(vectorBody)); got != vectorSignature {
		t.Errorf("got %s", got)
	}
	two := keysOf(t, vectorKey+"\r\n\nthe other key has more than 24 bytes\n")
	if got := Sign(two, vectorID, time.Unix(vectorTimestamp, 0), []byte(vectorBody)); !strings.HasPrefix(got, vectorSignature+" v1,") || strings.Count(got, " ") != 1 {
		t.Errorf("with two keys: %s", got)
	}
}

// TestVerify: whatever is changed, missing or old is refused.
func TestVerify(t *testing.T) {
	now := time.Unix(vectorTimestamp, 0)
	keys := keysOf(t, "the other key has more than 24 bytes\n"+vectorKey)
	good := Message{ID: vectorID, Timestamp: "1614265330", Signature: "v1a,xyz v1,AAAA v1,!! " + vectorSignature, Body: []byte(vectorBody)}
	for _, at := range []time.Duration{0, 5 * time.Minute, -5 * time.Minute} {
		if err := Verify(keys, good, now.Add(at), 5*time.Minute); err != nil {
			t.Errorf("%s later: %v", at, err)
		}
	}
	for name, edit := range map[string]func(*Message){
		"no id":             func(m *Message) { m.ID = "" },
		"no timestamp":      func(m *Message) { m.Timestamp = "" },
		"no signature":      func(m *Message) { m.Signature = "" },
		"id":                func(m *Message) { m.ID += "x" },
		"id with a dot":     func(m *Message) { m.ID, m.Timestamp = m.ID+".1614265330", "1614265330" },
		"timestamp":         func(m *Message) { m.Timestamp = "1614265331" },
		"timestamp, spaced": func(m *Message) { m.Timestamp = " 1614265330" },
		"timestamp, signed": func(m *Message) { m.Timestamp = "+1614265330" },
		"timestamp, huge":   func(m *Message) { m.Timestamp = "9223372036854775807" },
		"timestamp, least":  func(m *Message) { m.Timestamp = "-9223372036854775808" },
		"body":              func(m *Message) { m.Body = append(m.Body[:0:0], "{}"...) },
		"empty signature":   func(m *Message) { m.Signature = "v1," },
		"another version":   func(m *Message) { m.Signature = "v2," + strings.TrimPrefix(vectorSignature, "v1,") },
		"half a signature":  func(m *Message) { m.Signature = vectorSignature[:20] },
		"line break":        func(m *Message) { m.Signature = vectorSignature[:20] + "\r\n" + vectorSignature[20:] },
		"other last bits":   func(m *Message) { m.Signature = vectorSignature[:len(vectorSignature)-2] + "F=" },
		"many signatures":   func(m *Message) { m.Signature = strings.Repeat(vectorSignature+" ", 1000) },
	} {
		m := good
		edit(&m)
		if err := Verify(keys, m, now, 5*time.Minute); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, at := range []time.Duration{5*time.Minute + time.Second, -5*time.Minute - time.Second} {
		if err := Verify(keys, good, now.Add(at), 5*time.Minute); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s later: %v", at, err)
		}
	}
	if err := Verify(keysOf(t, "the other key has more than 24 bytes"), good, now, time.Hour); !errors.Is(err, ErrInvalid) {
		t.Errorf("with another key: %v", err)
	}
}

// TestParseKeysRefuses what is no key, without repeating it.
func TestParseKeysRefuses(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "planted", "whsec_", "whsec_planted!", "whsec_cGxhbnRlZA==", "planted" + strings.Repeat("x", KeyBytesMax),
		vectorKey + "\n" + vectorKey + "\n" + vectorKey, vectorKey + "\nplanted",
	} {
		if keys, err := ParseKeys(text); err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%q: %v, %v", text, keys, err)
		}
	}
}

// FuzzVerify: no message that was not signed is accepted.
func FuzzVerify(f *testing.F) {
	f.Add(vectorID, "1614265330", vectorSignature, []byte(vectorBody))
	f.Fuzz(func(t *testing.T, id, timestamp, signature string, body []byte) {
		m := Message{id, timestamp, signature, body}
		err := Verify(keysOf(t, vectorKey), m, time.Unix(vectorTimestamp, 0), time.Hour)
		if err == nil && (id != vectorID || timestamp != "1614265330" || string(body) != vectorBody) {
			t.Errorf("%+v is accepted", m)
		}
	})
}
