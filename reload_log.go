package gozer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/internal/rescue"
)

const (
	mostFindings = 20      // lines of an error that logs and endpoints show
	mostError    = 8 << 10 // bytes of it
)

// bounded cuts the text of an error; "gateway check" has the whole.
func bounded(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if more := len(lines) - mostFindings; more > 1 {
		lines = append(lines[:mostFindings:mostFindings], fmt.Sprintf("… and %d more lines", more))
	}
	text = strings.Join(lines, "\n")
	if len(text) > mostError {
		text = strings.ToValidUTF8(text[:mostError], "") + "…"
	}
	return text
}

// tell logs what came of a reload.
func (g *Gateway) tell(asker string, change admin.Change, err error) {
	if err != nil {
		g.options.logger.Error("reload refused, the running configuration stays",
			append([]any{"asked by", asker, "error", bounded(err.Error())}, rescue.Stack(err)...)...)
		return
	}
	g.options.logger.Info("configuration reloaded", append([]any{"asked by", asker}, summary(change, fewNames)...)...)
	if summary(change, fewNames) != nil {
		g.options.logger.Debug("what the reload has changed", summary(change, manyNames)...)
	}
}

// How many names a line of the log has of each kind.
const (
	fewNames  = 10
	manyNames = 500
	longName  = 80 // characters
)

// summary gives what is different as attributes of a log line.
func summary(c admin.Change, most int) []any {
	var all []any
	add := func(name string, words []string) {
		if len(words) > 0 {
			all = append(all, name, some(words, most))
		}
	}
	add("routes", marked(c.Routes))
	if c.RoutesReordered {
		all = append(all, "order of routes", "changed")
	}
	add("services", marked(c.Services))
	add("filters", marked(c.Filters))
	add("keys", c.Keys)
	add("need a restart", c.NeedRestart)
	return all
}

func marked(d admin.Delta) []string {
	var words []string
	for _, of := range []struct {
		sign  string
		names []string
	}{{"+", d.Added}, {"~", d.Changed}, {"-", d.Removed}} {
		for _, name := range of.names {
			words = append(words, of.sign+name)
		}
	}
	return words
}

func some(words []string, most int) string {
	shown := slices.Clone(words[:min(most, len(words))])
	for i, word := range shown {
		if runes := []rune(word); len(runes) > longName {
			shown[i] = string(runes[:longName]) + "…"
		}
	}
	text := strings.Join(shown, " ")
	if more := len(words) - len(shown); more > 0 {
		text += fmt.Sprintf(" … and %d more", more)
	}
	return text
}
