// Package archtest keeps the arrows between packages: who may import whom.
package archtest

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Package is one package and what its product code imports; imports of its tests
// are free.
type Package struct {
	ImportPath string
	Imports    []string
}

// List describes the packages of the module in folder root. It reads the sources
// itself, so that go test knows which files a cached result depends on.
func List(root, module string) ([]Package, error) {
	var pkgs []Package
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root && holdsNoPackages(d.Name()) {
			return fs.SkipDir
		}
		p, err := read(root, dir, module)
		if _, empty := errors.AsType[*build.NoGoError](err); empty {
			return nil
		}
		pkgs = append(pkgs, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("archtest: reading packages: %w", err)
	}
	return pkgs, nil
}

// holdsNoPackages follows the go command's view of folder names.
func holdsNoPackages(name string) bool {
	return name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func read(root, dir, module string) (Package, error) {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return Package{}, err
	}
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return Package{}, err
	}
	return Package{ImportPath: path.Join(module, filepath.ToSlash(rel)), Imports: p.Imports}, nil
}

// Arrow allows the packages From to import the packages To. Both are patterns
// relative to the module: "lb" is that package, "filters/..." is filters and all
// below it, "." is the root package, "..." is everything.
type Arrow struct {
	From string
	To   []string
}

// Rules are the arrows of one module.
type Rules struct {
	// Module is the module's path; imports from elsewhere are not looked at.
	Module string
	// Arrows are tried in order; the first one whose From matches decides alone.
	Arrows []Arrow
}

// Check returns a line for every forbidden import and for every package that no
// arrow speaks of.
func (r Rules) Check(pkgs []Package) []string {
	var broken []string
	for _, p := range pkgs {
		from, ours := r.local(p.ImportPath)
		if !ours {
			continue
		}
		may, known := r.allowed(from)
		if !known {
			broken = append(broken, from+" has no place among the arrows")
			continue
		}
		for _, imported := range p.Imports {
			if to, ours := r.local(imported); ours && !matchesAny(may, to) {
				broken = append(broken, from+" must not import "+to)
			}
		}
	}
	return broken
}

// local returns an import path relative to the module, "." for the module's root.
func (r Rules) local(importPath string) (string, bool) {
	if importPath == r.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, r.Module+"/")
}

func (r Rules) allowed(from string) ([]string, bool) {
	i := slices.IndexFunc(r.Arrows, func(a Arrow) bool { return matches(a.From, from) })
	if i < 0 {
		return nil, false
	}
	return r.Arrows[i].To, true
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, pkg) })
}

func matches(pattern, pkg string) bool {
	tree, deep := strings.CutSuffix(pattern, "...")
	if !deep {
		return pattern == pkg
	}
	return strings.HasPrefix(pkg+"/", tree)
}
