package config_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
)

var update = flag.Bool("update", false, "write the golden files and the table in docs/configuration.md")

// TestGolden loads every file in testdata. A bad file has errors, a good one none; the
// .txt beside it holds the report and what differs from the defaults.
func TestGolden(t *testing.T) {
	for _, kind := range []string{"good", "bad"} {
		files, err := filepath.Glob("testdata/*." + kind + ".yaml")
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s files: %v", kind, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				c, report := config.Load(file, optionsIn(t, file))
				if isBad := report.Err() != nil; isBad != (kind == "bad") {
					t.Errorf("Err() = %v", report.Err())
				}
				got := report.String()
				if kind == "good" {
					got += effective(c)
				}
				golden(t, strings.TrimSuffix(file, ".yaml")+".txt", got)
			})
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// optionsIn reads the options from the comment "# options: --set a=b --env C=d --profile e".
func optionsIn(t *testing.T, file string) config.Options {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var o config.Options
	_, line, found := strings.Cut(string(data), "# options: ")
	if !found {
		return o
	}
	line, _, _ = strings.Cut(line, "\n")
	for words := range slices.Chunk(strings.Fields(line), 2) {
		list := map[string]*[]string{"--set": &o.Set, "--env": &o.Env, "--profile": &o.Profiles}[words[0]]
		*list = append(*list, words[1])
	}
	return o
}

// effective lists, one a line, the fields that differ from those of an empty
// configuration, or for the entries of a map from the section they are completed from.
func effective(c *config.Config) string {
	defaults, _ := config.Load("", config.Options{})
	d := dump{config: c}
	d.value("", reflect.ValueOf(*c), reflect.ValueOf(*defaults))
	for _, f := range c.FilterSettings() {
		fmt.Fprintf(&d.lines, "filter %s at %s\n", f.Name, f.Position)
	}
	return d.lines.String()
}

type dump struct {
	config *config.Config
	lines  strings.Builder
}

func (d *dump) value(path string, v, base reflect.Value) {
	switch kind := v.Kind(); {
	case kind == reflect.Pointer && !v.IsNil():
		d.value(path, v.Elem(), reflect.Indirect(base))
	case kind == reflect.Struct && v.Type() != reflect.TypeFor[config.Position]():
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				d.value(path+"."+f.Name, v.Field(i), field(base, i, f.Type))
			}
		}
	case kind == reflect.Map && v.Type().Elem().Kind() != reflect.Interface:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			d.value(path+"["+k.String()+"]", v.MapIndex(k), d.section(v.MapIndex(k)))
		}
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct && v.Type().Elem().PkgPath() != "net/netip":
		for i := range v.Len() {
			d.value(fmt.Sprintf("%s[%d]", path, i), v.Index(i), reflect.Value{})
		}
	case !base.IsValid() && v.IsZero(), base.IsValid() && reflect.DeepEqual(v.Interface(), base.Interface()):
	case kind == reflect.String:
		fmt.Fprintf(&d.lines, "%s = %q\n", strings.TrimPrefix(path, "."), v.Interface())
	default:
		fmt.Fprintf(&d.lines, "%s = %v\n", strings.TrimPrefix(path, "."), v.Interface())
	}
}

func field(base reflect.Value, i int, t reflect.Type) reflect.Value {
	if !base.IsValid() {
		return reflect.Zero(t)
	}
	return base.Field(i)
}

// section is what an entry of a map was completed from.
func (d *dump) section(entry reflect.Value) reflect.Value {
	switch entry.Interface().(type) {
	case *config.Ribbon:
		return reflect.ValueOf(d.config.Ribbon)
	case *config.Command:
		return reflect.ValueOf(d.config.Hystrix.Default)
	case *config.ThreadPool:
		return reflect.ValueOf(d.config.Hystrix.DefaultPool)
	}
	return reflect.Value{}
}

// TestSample keeps the files that people start with free of complaints.
func TestSample(t *testing.T) {
	for _, file := range []string{"../gateway.yaml", "testdata/bench.good.yaml"} {
		_, report := config.Load(file, config.Options{})
		if len(report.Findings()) > 0 {
			t.Errorf("%s:\n%s", file, report)
		}
	}
}
