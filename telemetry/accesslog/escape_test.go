package accesslog_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// shown is how the lines of a format show texts out of requests between
// what stands before and behind them.
func shown(t *testing.T, s accesslog.Settings, before, behind string, texts []string) []string {
	t.Helper()
	c := filtertest.New(t, "GET /x", filtertest.RemoteAddr("192.0.2.9:1"))
	out := written(t, s, func(l *accesslog.Log) {
		for _, text := range texts {
			c.Request.Header["User-Agent"] = []string{text}
			l.End(c)
		}
	})
	for i, line := range out {
		_, line, _ = strings.Cut(line, before)
		out[i] = strings.TrimSuffix(line, behind)
	}
	return out
}

// check compares what texts mean with encoding/json, reads them back from the other formats, and
// looks for what must not be shown.
func check(t *testing.T, texts ...string) {
	t.Helper()
	asJSON := shown(t, accesslog.Settings{Format: accesslog.JSON}, `"user_agent":`, "}", texts)
	asPlain := shown(t, accesslog.Settings{Format: accesslog.Pattern, Pattern: "%{user_agent}r"}, "", "", texts)
	if len(asJSON) != len(texts) || len(asPlain) != len(texts) {
		t.Fatalf("%d and %d lines for %d texts", len(asJSON), len(asPlain), len(texts))
	}
	for i, text := range texts {
		checkJSON(t, text, asJSON[i])
		checkPlain(t, text, asPlain[i])
	}
}

func checkJSON(t *testing.T, text, shown string) {
	t.Helper()
	var got, want string
	if err := json.Unmarshal([]byte(shown), &got); err != nil {
		t.Fatalf("%q: %v: %s", text, err, shown)
	}
	model, _ := json.Marshal(text) // a string has a form
	if err := json.Unmarshal(model, &want); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%q means %q, want %q", text, got, want)
	}
	for _, r := range shown {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%q shows %U: %s", text, r, shown)
		}
	}
}

func checkPlain(t *testing.T, text, shown string) {
	t.Helper()
	var got []byte
	for i := 0; i < len(shown); i++ {
		b := shown[i]
		switch {
		case b == '\\' && i+4 <= len(shown) && shown[i+1] == 'x':
			n, err := strconv.ParseUint(shown[i+2:i+4], 16, 8)
			if err != nil {
				t.Fatalf("%q: %v: %s", text, err, shown)
			}
			got, i = append(got, byte(n)), i+3
		case b < ' ' || b > '~' || b == '"' || b == '\\':
			t.Fatalf("%q shows %q: %s", text, b, shown)
		default:
			got = append(got, b)
		}
	}
	if string(got) != text {
		t.Errorf("%q became %q", text, shown)
	}
}

// Texts are looked at by eight bytes at once; each byte is tried at each place in them, between
// ordinary ones and such as are next to those that are escaped.
func TestEveryByteAtEveryPlace(t *testing.T) {
	const length = 2*8 + 3
	var texts []string
	for _, around := range []byte("a !#[]~") {
		for b := range 256 {
			for at := range length {
				text := bytes.Repeat([]byte{around}, length)
				text[at] = byte(b)
				texts = append(texts, string(text))
			}
		}
	}
	check(t, texts...)
}

func FuzzText(f *testing.F) {
	for _, text := range []string{"curl/8", `a"b\c`, "\x00\x1f\x7f\u0080\u009f\u00a0ü", "\u2028\u202e\ufeff\U000e0041", "\xff\xc0\xaf\xed\xa0\x80", "\ufffd", "\\x41"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || len(text) > 1000 {
			return
		}
		check(t, text)
	})
}
