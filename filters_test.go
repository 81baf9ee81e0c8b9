package gozer_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
)

func TestWithFilters(t *testing.T) {
	const helloRoute = "zuul.routes.hello: /hello/**=forward:/\n"
	replaced := respond("SendForwardFilter", filters.Route, 500, "replaced")
	tests := []struct {
		name, yaml string
		filters    []filters.Spec
		want       string
	}{
		{"replaces a built-in one of its name and phase", helloRoute, []filters.Spec{replaced}, "replaced"},
		{
			"in another phase it is a further one", helloRoute,
			[]filters.Spec{filters.Func("SendForwardFilter", filters.Pre, 0, func(*filters.Context) error { return nil })},
			"/you",
		},
		{
			"disabled by name and phase", helloRoute + "zuul.Late.route.disable: true\n",
			[]filters.Spec{replaced, respond("Late", filters.Route, 501, "late")},
			"replaced",
		},
		{
			"not disabled in another phase", helloRoute + "zuul.Late.pre.disable: true\n",
			[]filters.Spec{replaced, respond("Late", filters.Route, 501, "late"), respond("Late", filters.Pre, 0, "early")},
			"late",
		},
		{
			"disabled in any case, as from the environment", helloRoute + "zuul.LATE.ROUTE.disable: true\n",
			[]filters.Spec{replaced, respond("Late", filters.Route, 501, "late")},
			"replaced",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGateway(t, tt.yaml, gozer.WithFilters(tt.filters...), localEcho())
			wantAnswer(t, get(t, g, "/hello/you"), http.StatusOK, tt.want)
		})
	}
}

// banner is a filter with settings.
func banner(built *int) filters.Spec {
	return filters.Spec{Name: "Banner", Phase: filters.Pre, Order: 0, New: func(decode func(any) error) (filters.Filter, error) {
		*built++
		settings := struct {
			Text  string
			Times int
		}{Text: "welcome", Times: 1}
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return filters.Func("", "", 0, func(c *filters.Context) error {
			c.Respond(http.StatusOK, nil, strings.NewReader(strings.Repeat(settings.Text, settings.Times)))
			return nil
		}).New(nil)
	}}
}

func TestFilterSettings(t *testing.T) {
	built := 0
	g := newGateway(t, "gateway.filters.Banner:\n  text: hi\n  times: 2\n", gozer.WithFilters(banner(&built)))
	wantAnswer(t, get(t, g, "/"), http.StatusOK, "hihi")
	wantAnswer(t, get(t, g, "/"), http.StatusOK, "hihi")
	if built != 1 {
		t.Errorf("built %d times for one configuration", built)
	}
}

func TestFaultyFilterSettingsNameKeyFileAndLine(t *testing.T) {
	const faulty = `
gateway.filters:
  Banner:
    txt: hi
    times: many
  Baner: {text: hi}
zuul.Baner.pre.disable: true
gateway.filters.SendErrorFilter:
  colour: red
`
	own := gozer.WithFilters(banner(new(int)))
	t.Run("New refuses it", func(t *testing.T) {
		_, err := gozer.New(parse(t, faulty), own, gozer.WithLogger(slog.New(slog.DiscardHandler)))
		if err == nil {
			t.Fatal("accepted")
		}
		for _, want := range []string{
			"gateway.yaml:4: error: gateway.filters.Banner.txt: unknown setting; did you mean text?",
			`gateway.yaml:5: error: gateway.filters.Banner.times: "many" is not a whole number`,
			"gateway.yaml:6: error: gateway.filters.Baner: there is no such filter",
			"gateway.yaml:7: error: zuul.Baner.pre.disable: there is no such filter",
			"gateway.yaml:9: error: gateway.filters.SendErrorFilter.colour: unknown setting",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
	})
	t.Run("Validate reports all at once", func(t *testing.T) {
		cfg, report := config.Parse("gateway.yaml", []byte(faulty), config.Options{})
		gozer.Validate(cfg, report, own)
		var got []string
		for _, f := range report.Findings() {
			got = append(got, f.String())
		}
		want := []string{
			"gateway.yaml:4: error: gateway.filters.Banner.txt: unknown setting; did you mean text?",
			`gateway.yaml:5: error: gateway.filters.Banner.times: "many" is not a whole number`,
			"gateway.yaml:6: error: gateway.filters.Baner: there is no such filter; did you mean Banner?",
			"gateway.yaml:7: error: zuul.Baner.pre.disable: there is no such filter; did you mean Banner?",
			"gateway.yaml:9: error: gateway.filters.SendErrorFilter.colour: unknown setting",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
