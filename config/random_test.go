package config_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/config"
)

func TestRandom(t *testing.T) {
	for _, tt := range []struct{ placeholder, shape string }{
		{"random.value", `[0-9a-f]{32}`},
		{"random.uuid", `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`},
		{"random.int", `-?[0-9]{1,10}`},
		{"random.long", `-?[0-9]{1,19}`},
		{"random.int(3)", `[0-2]`},
		{"random.int[7]", `[0-6]`},
		{"random.int[8,10]", `8|9`},
		{"random.long( -2 , 0 )", `-1|-2`},
		{"random.long[-9223372036854775808,9223372036854775807]", `-?[0-9]{1,19}`},
		{"RANDOM:${random.int(1)}", `0`},
	} {
		t.Run(tt.placeholder, func(t *testing.T) {
			shape := regexp.MustCompile("^(" + tt.shape + ")$")
			for range 50 {
				if got := instanceID(t, "${"+tt.placeholder+"}"); !shape.MatchString(got) {
					t.Errorf("%q is not %s", got, tt.shape)
				}
			}
		})
	}
}

func instanceID(t *testing.T, value string) string {
	t.Helper()
	c, report := config.Parse("f.yaml", []byte("eureka.instance.instance-id: '"+value+"'\n"), config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	return c.Eureka.Instance.InstanceID
}

func TestRandomOutOfRange(t *testing.T) {
	for _, name := range []string{"random.int(0)", "random.int[3,3]", "random.int(2147483648)", "random.long[2,1]"} {
		_, report := config.Parse("f.yaml", fmt.Appendf(nil, "server.port: ${%s}\n", name), config.Options{})
		if got := report.String(); !strings.Contains(got, "f.yaml:1: error: server.port: ${"+name+"} has no numbers in its range") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestRandomStays lets a reload find what it had, and different places different values.
func TestRandomStays(t *testing.T) {
	const file = "info: {a: '${random.value}', b: '${random.value}', c: ['${random.value} ${random.value}', '${random.value}']}\n" +
		"info.d: ${info.a}\n"
	read := func(seed string) (*config.Config, string) {
		c, report := config.Parse("f.yaml", []byte(file), config.Options{Seed: seed})
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		return c, fmt.Sprint(c.Info)
	}
	before, values := read("seed")
	now, same := read("seed")
	if same != values || len(now.ChangedFrom(before)) > 0 {
		t.Errorf("%s became %s, changed %v", values, same, now.ChangedFrom(before))
	}
	if _, other := read(""); other == values {
		t.Error("another seed makes the same values")
	}
	seen := map[string]int{}
	for _, value := range regexp.MustCompile("[0-9a-f]{32}").FindAllString(values, -1) {
		seen[value]++
	}
	if len(seen) != 5 || seen[now.Info["d"].(string)] != 2 {
		t.Errorf("values %s", values)
	}
}
