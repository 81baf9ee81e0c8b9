package config_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
)

type base struct{ Shared string }

type settings struct {
	base

	Name    string
	On      *bool
	Small   int8
	Big     uint16
	Ratio   float64
	Wait    time.Duration
	Address netip.Addr
	Renamed string `config:"other-name"`
	List    []string
	Limits  map[string]int
	Rules   []rule
	Any     any
	Kept    string
	private int //nolint:unused // it must not be settable
}

type rule struct {
	Path  string
	Allow []int
}

func TestDecodeFilter(t *testing.T) {
	c, _ := parse(t, `gateway.filters.Stamp:
  NAME: a
  on: true
  small: -7
  big: 65535
  ratio: 0.5
  wait: 3
  address: ::1
  other_name: b
  list: x, y
  limits: {A-b: 1, c: 2}
  rules:
    - {path: /a, allow: [1, 2]}
    - path: /b
  any: {x: [1]}`)
	got := settings{Kept: "default", Name: "default"}
	if err := c.DecodeFilter("Stamp", &got); err != nil {
		t.Fatal(err)
	}
	on := true
	want := settings{
		Name: "a", On: &on, Small: -7, Big: 65535, Ratio: 0.5, Wait: 3 * time.Millisecond, Address: netip.IPv6Loopback(),
		Renamed: "b", List: []string{"x", "y"}, Limits: map[string]int{"A-b": 1, "c": 2},
		Rules: []rule{{"/a", []int{1, 2}}, {Path: "/b"}}, Any: map[string]any{"x": []any{"1"}}, Kept: "default",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDecodeFilterComplaints(t *testing.T) {
	c, report := parse(t, `gateway.filters:
  Stamp:
    naem: a
    small: 128
    big: -1
    ratio: much
    wait: long
    address: here
    list: {a: 1}
    limits: 5
    rules: [{pth: /a}]
    private: 1
  Other: {}`)
	err := c.DecodeFilter("Stamp", &settings{})
	var complaints *config.SettingsError
	if !errors.As(err, &complaints) {
		t.Fatalf("error is %v", err)
	}
	want := []string{
		`gateway.yaml:3: error: gateway.filters.Stamp.naem: unknown setting; did you mean name?`,
		`gateway.yaml:4: error: gateway.filters.Stamp.small: "128" is out of range`,
		`gateway.yaml:5: error: gateway.filters.Stamp.big: "-1" is out of range (at least 0)`,
		`gateway.yaml:6: error: gateway.filters.Stamp.ratio: "much" is not a number`,
		`gateway.yaml:7: error: gateway.filters.Stamp.wait: "long" is not a duration (such as 500ms, 5s, 2m, PT5S, or a plain number of milliseconds)`,
		`gateway.yaml:8: error: gateway.filters.Stamp.address: "here" is no netip.Addr`,
		`gateway.yaml:9: error: gateway.filters.Stamp.list: expected a list, found a section`,
		`gateway.yaml:10: error: gateway.filters.Stamp.limits: expected a section, found a single value`,
		`gateway.yaml:11: error: gateway.filters.Stamp.rules[0].pth: unknown setting; did you mean path?`,
		`gateway.yaml:12: error: gateway.filters.Stamp.private: unknown setting`,
	}
	var got []string
	for _, f := range complaints.Findings {
		got = append(got, f.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	t.Run("they join the report", func(t *testing.T) {
		report.AddError("gateway.filters.Stamp", config.Position{}, err)
		report.AddError("gateway.filters.Other", c.FilterSettings()[0].Position, errors.New("no filter has this name"))
		if n := len(report.Findings()); n != len(want)+1 {
			t.Errorf("%d findings:\n%s", n, report)
		}
		if last := report.Findings()[len(want)]; last.Position.Line != 13 || !errors.Is(report.Err(), config.ErrInvalid) {
			t.Errorf("last: %s, Err: %v", last, report.Err())
		}
	})
	t.Run("nothing configured", func(t *testing.T) {
		kept := settings{Name: "default"}
		if err := c.DecodeFilter("Absent", &kept); err != nil || kept.Name != "default" {
			t.Errorf("%v, %+v", err, kept)
		}
	})
	t.Run("no struct to fill", func(t *testing.T) {
		if err := c.DecodeFilter("Stamp", settings{}); err == nil {
			t.Error("accepted")
		}
	})
}
