package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/archtest"
)

func TestCheck(t *testing.T) {
	rules := archtest.Rules{Module: "m", Arrows: []archtest.Arrow{
		{From: ".", To: []string{"..."}},
		{From: "cmd/...", To: []string{"."}},
		{From: "mid/inner", To: nil},
		{From: "mid/...", To: []string{"mid/...", "low"}},
		{From: "low", To: nil},
	}}
	for name, row := range map[string]struct {
		pkg     string
		imports []string
		want    []string
	}{
		"others' packages are free":            {"m/low", []string{"fmt", "mother"}, nil},
		"a package elsewhere is free":          {"other", []string{"m/low"}, nil},
		"down an arrow":                        {"m/mid", []string{"m/low"}, nil},
		"within a tree":                        {"m/mid/a", []string{"m/mid", "m/mid/b/c"}, nil},
		"up":                                   {"m/low", []string{"m/mid"}, []string{"low must not import mid"}},
		"to the root":                          {"m/low", []string{"m"}, []string{"low must not import ."}},
		"the root sees all":                    {"m", []string{"m/low", "m/mid/b"}, nil},
		"only the root":                        {"m/cmd/x", []string{"m", "m/low"}, []string{"cmd/x must not import low"}},
		"a name that only begins alike":        {"m/midway", nil, []string{"midway has no place among the arrows"}},
		"the first matching arrow decides":     {"m/mid/inner", []string{"m/low"}, []string{"mid/inner must not import low"}},
		"an exact name excludes what is below": {"m/mid", []string{"m/low/x"}, []string{"mid must not import low/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := rules.Check([]archtest.Package{{ImportPath: row.pkg, Imports: row.imports}})
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestList(t *testing.T) {
	root := t.TempDir()
	for name, source := range map[string]string{
		"m.go":              "package m\nimport _ \"m/a\"",
		"a/a.go":            "package a\nimport _ \"fmt\"",
		"a/a_test.go":       "package a\nimport _ \"m\"",
		"a/testdata/x.go":   "package x",
		"docs/readme.md":    "no package",
		".hidden/hidden.go": "package hidden",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := archtest.List(root, "m")
	if err != nil {
		t.Fatal(err)
	}
	want := []archtest.Package{{ImportPath: "m", Imports: []string{"m/a"}}, {ImportPath: "m/a", Imports: []string{"fmt"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestListReportsWhatItCannotRead(t *testing.T) {
	if _, err := archtest.List(filepath.Join(t.TempDir(), "nowhere"), "m"); err == nil {
		t.Fatal("a folder that does not exist was listed")
	}
}
