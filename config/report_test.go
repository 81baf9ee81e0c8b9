package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
)

func TestReport(t *testing.T) {
	var r config.Report
	if got := r.String(); r.Err() != nil || got != "configuration is valid\n" {
		t.Errorf("empty report: %q, %v", got, r.Err())
	}
	r.Add(config.Finding{Severity: config.Warning, Key: "b", Position: config.Position{File: "f", Line: 1}, Message: "odd"})
	if r.Err() != nil {
		t.Errorf("a warning is an error: %v", r.Err())
	}
	r.Add(config.Finding{Key: "a", Position: config.Position{File: "g", Line: 2}, Message: "wrong"})
	r.Add(config.Finding{Position: config.Position{File: "f", Line: 10}, Message: "broken"})
	r.Add(config.Finding{Key: "c", Position: config.Position{File: "f", Line: 9}, Message: "wrong"})
	want := strings.Join([]string{
		"f:9: error: c: wrong", "f:10: error: broken", "g:2: error: a: wrong", "f:1: warning: b: odd", "3 errors, 1 warning", "",
	}, "\n")
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := (config.Finding{Key: "a", Message: "wrong"}).String(); got != "error: a: wrong" {
		t.Errorf("a finding without a place: %q", got)
	}
	if err := r.Err(); !errors.Is(err, config.ErrInvalid) || !strings.Contains(err.Error(), "g:2: error: a: wrong") {
		t.Errorf("Err() = %v", err)
	}
}

// multiplied stands for nine times as many values from line to line; nobody should wait
// until all of it is read.
const multiplied = `a: &a [x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]
f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]
g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]
`

// TestFiles is the part of case C202 that is about the file itself.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gateway.yaml")
	for _, row := range []struct{ name, text, want string }{
		{"C202 empty", "", "the file is empty"},
		{"C202 only comments", "# nothing\n---\n", "the file is empty"},
		{"C202 half written", "zuul:\n  routes:\n    users: {path: /us", "broken YAML"},
		{"C202 good document, broken document", "server.port: 1\n---\na: [\n", "broken YAML"},
		{"binary", "\x00\x01\x02", "broken YAML"},
		{"circular anchor", "a: &a [*a]", "nested too deeply"},
		{"aliases that multiply", multiplied, ":6: error: f: aliases stand for too many values"},
		{"list", "- a", "found a list"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, report := config.Load(path, config.Options{}); report.Err() == nil || !strings.Contains(report.String(), path) || !strings.Contains(report.String(), row.want) {
				t.Errorf("report does not say %q with the place:\n%s", row.want, report)
			}
		})
	}
	t.Run("C202 deleted", func(t *testing.T) {
		_, report := config.Load(filepath.Join(dir, "absent.yaml"), config.Options{})
		if report.Err() == nil || !strings.Contains(report.String(), "absent.yaml: error: cannot be read") {
			t.Error(report)
		}
	})
	t.Run("no file is fine", func(t *testing.T) {
		if c, report := config.Load("", config.Options{}); report.Err() != nil || c.Server.Port != 8080 {
			t.Error(report)
		}
	})
}
