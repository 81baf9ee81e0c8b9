package config_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
)

const (
	manual = "../docs/configuration.md"
	begin  = "<!-- The tables below are written by `go test ./config -run TestManual -update`. -->\n"
)

// TestManual keeps the tables of the manual equal to the table that the code uses.
func TestManual(t *testing.T) {
	data, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	prose, tables, ok := strings.Cut(string(data), begin)
	if !ok {
		t.Fatalf("%s has no line %s", manual, begin)
	}
	want := manualTables()
	if *update {
		if err := os.WriteFile(manual, []byte(prose+begin+want), 0o600); err != nil {
			t.Fatal(err)
		}
		tables = want
	}
	if diff := cmp.Diff(want, tables); diff != "" {
		t.Errorf("%s is out of date (-want +got):\n%s", manual, diff)
	}
}

// manualTables has one table per section: what works, then what does not.
func manualTables() string {
	var b strings.Builder
	sections := []struct{ title, prefixes string }{
		{"server, spring, error", "server. spring. error."},
		{"management", "management."},
		{"zuul", "zuul."},
		{"ribbon, <service>.ribbon", "<service>. ribbon. niws. ZoneAware"},
		{"hystrix", "hystrix."},
		{"eureka", "eureka."},
		{"gateway, logging, info", "gateway. logging. info."},
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "\n### `%s`\n\n| key | type | default | meaning |\n|---|---|---|---|\n", s.title)
		for _, k := range config.Keys() {
			if k.Status == config.Supported && in(k.Name, s.prefixes) {
				fmt.Fprintf(&b, "| `%s`%s | %s | %s | %s |\n", k.Name, restart(k), k.Type, shown(k.Default), k.Doc)
			}
		}
	}
	b.WriteString("\n## Known keys without effect\n\nA key with only one good value is accepted silently with that value.\n" +
		"\n| key | status | good value | reason |\n|---|---|---|---|\n")
	for _, k := range config.Keys() {
		if k.Status != config.Supported {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, k.Status, shown(k.Default), k.Doc)
		}
	}
	return b.String()
}

// restart marks what a reload does not apply.
func restart(k config.Key) string {
	if k.Restart {
		return " ⟳"
	}
	return ""
}

func in(name, prefixes string) bool {
	for prefix := range strings.FieldsSeq(prefixes) {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// shown sets a default as code unless it is an explanation in words.
func shown(def string) string {
	bare := strings.Trim(def, "()")
	if bare == "" || bare != def && strings.Contains(bare, " ") {
		return bare
	}
	return "`" + bare + "`"
}
