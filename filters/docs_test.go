package filters_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSnippetsAreCode finds every declaration of docs/writing-filters.md in
// example_test.go, where it is compiled and run.
func TestSnippetsAreCode(t *testing.T) {
	guide, examples := read(t, "../docs/writing-filters.md"), read(t, "example_test.go")
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(guide, -1)
	if len(snippets) < 5 {
		t.Fatalf("only %d snippets found", len(snippets))
	}
	for _, snippet := range snippets {
		source := snippet[1]
		if !strings.HasPrefix(source, "package ") {
			source = "package p\n" + source
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%v in\n%s", err, source)
			continue
		}
		for _, d := range file.Decls {
			text := source[d.Pos()-1 : d.End()-1]
			if !onlyInPrograms(d) && !strings.Contains(examples, text) {
				t.Errorf("not in example_test.go:\n%s", text)
			}
		}
	}
}

// onlyInPrograms reports whether a declaration is an import or the function
// main, which a test file has differently.
func onlyInPrograms(d ast.Decl) bool {
	switch d := d.(type) {
	case *ast.GenDecl:
		return d.Tok == token.IMPORT
	case *ast.FuncDecl:
		return d.Name.Name == "main"
	}
	return false
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
