package gozer_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/config"
)

// C199: the first route that matches wins, in the order of the file, whatever sources lie over
// it and however often it is loaded.
func TestC199RoutesKeepTheirOrder(t *testing.T) {
	var specific []string
	for i := range 40 {
		specific = append(specific, fmt.Sprintf("zuul.routes.p%d: {path: /x/%d/**, url: \"forward:/p%d\", stripPrefix: true}\n", i, i, i))
	}
	const catchAll = "zuul.routes.any: {path: /x/**, url: \"forward:/any\", stripPrefix: true}\n"
	reversed := slices.Clone(specific)
	slices.Reverse(reversed)
	first := strings.Join(specific, "") + catchAll
	last := catchAll + strings.Join(reversed, "")

	g := newGateway(t, first, localEcho())
	for n := range 100 {
		env, yaml := []string(nil), first
		if n%2 == 1 {
			yaml = last
		}
		if n%3 == 1 {
			env = []string{"ZUUL_ROUTES_P39_RETRYABLE=true", "ZUUL_ROUTES_ANY_RETRYABLE=true"}
		}
		cfg, report := config.Parse("gateway.yaml", []byte(yaml), config.Options{Env: env})
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		if err := g.Reload(cfg); err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 1, 7, 38, 39} {
			want := fmt.Sprintf("/p%d/z", i)
			if yaml == last {
				want = fmt.Sprintf("/any/%d/z", i)
			}
			wantAnswer(t, get(t, g, fmt.Sprintf("/x/%d/z", i)), http.StatusOK, want)
		}
	}
}
