package config

// draft is a route while it is read: the fields as written, defaults not yet filled in.
type draft struct {
	Route
	serviceID, url string
	broken         bool // an error has been reported
}

func routeKeys() []Key {
	keys := []Key{{
		Name: "zuul.routes.<id>", Type: "text", Default: "", set: setShorthand,
		Doc: "a route in one line: `/path/**` to the service `<id>`, or `/path/**=location`",
	}}
	return append(keys, lift("zuul.routes.<id>.", draftOf,
		text("path", "(/<id>/**)", "ant pattern", func(d *draft) *string { return &d.Path }),
		text("service-id", "(<id>)", "service that gets the requests", func(d *draft) *string { return &d.serviceID }),
		text("url", "", "http(s) URL that gets the requests, or `forward:/local`; wins over `service-id`", func(d *draft) *string { return &d.url }),
		boolean("strip-prefix", "(true)", "remove the part of `path` before its first `*`", func(d *draft) *bool { return &d.StripPrefix }),
		optional("retryable", "(zuul.retryable)", "whether failed requests are tried again", func(d *draft) **bool { return &d.Retryable }),
		row[draft]{name: "sensitive-headers", kind: "list", def: "(zuul.sensitive-headers)", doc: "headers dropped in both directions; empty means none", set: setSensitiveHeaders},
		boolean("custom-sensitive-headers", "(false)", "whether `sensitive-headers` counts; setting that list is enough", func(d *draft) *bool { return &d.CustomSensitiveHeaders }),
		text("id", "(<id>)", "name of the route in endpoints and logs", func(d *draft) *string { return &d.ID }),
		dead[draft](Ignored, "location", "use `url` or `service-id`"),
	)...)
}

func draftOf(b *builder, values []string) *draft { return b.route(values[0]) }

func setSensitiveHeaders(d *draft, v *node) error {
	headers, err := textsOf(v)
	if err == nil {
		d.SensitiveHeaders, d.CustomSensitiveHeaders = headers, true
	}
	return err
}

// setShorthand starts the route afresh: a line in a later file replaces the fields of
// an earlier one. An empty value leaves everything to the defaults.
func setShorthand(b *builder, values []string, v *node) error {
	d := b.route(values[0])
	if v.kind == table {
		return nil
	}
	line, err := textOf(v)
	if err != nil {
		return err
	}
	*d = draft{Route: Route{Key: d.Key, StripPrefix: true, Position: v.at}}
	if line == "" {
		return nil
	}
	return d.shorthand(line, v)
}
