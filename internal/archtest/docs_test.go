package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link is a link to a file of the tree.
var link = regexp.MustCompile(`\]\(([\w./-]*(?:/|\.md)[\w.-]*)(?:#[^)]*)?\)`)

func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !strings.Contains(string(readme), "(docs/"+filepath.Base(page)+")") {
			t.Errorf("README.md has no link to docs/%s", filepath.Base(page))
		}
	}
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), found[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, found[1])
			}
		}
	}
}

// A topic has one row in a table: two come from merges that keep both sides.
func TestRowsOfATableDiffer(t *testing.T) {
	for _, page := range []string{"../../docs/differences.md", "../../docs/configuration.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		topics := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			topic, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			switch {
			case !row || !strings.HasPrefix(line, "|"):
				clear(topics)
			case topics[topic]:
				t.Errorf("%s has two rows about %s", page, topic)
			}
			topics[topic] = row
		}
	}
}
