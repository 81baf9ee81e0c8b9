package routing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/routing"
)

// Every file in testdata has a configuration, a line "--", and lines "path => answer"; answer is that of the function of this name.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			configuration, requests, _ := strings.Cut(string(data), "\n--\n")
			table := goldenTable(t, configuration)
			for line := range strings.Lines(requests) {
				raw, want, found := strings.Cut(strings.TrimSpace(line), " => ")
				if !found {
					t.Fatalf("not a request: %q", line)
				}
				check(t, table, raw, want)
			}
		})
	}
}

func goldenTable(t *testing.T, configuration string) *routing.Table {
	t.Helper()
	s := settings()
	var services []string
	for line := range strings.Lines(configuration) {
		words := strings.Fields(line)
		switch words[0] {
		case "#":
		case "prefix":
			s.Prefix = words[1]
		case "ignore":
			s.IgnoredPatterns = append(s.IgnoredPatterns, words[1])
		case "service":
			services = append(services, words[1])
		case "route":
			s.Routes = append(s.Routes, route(words[1], words[2], words[3]))
		default:
			t.Fatalf("not a setting: %q", line)
		}
	}
	return build(t, s, services...)
}
