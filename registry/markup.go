package registry

import (
	_ "embed"
	"fmt"
	"html"
	"net/url"
	"strings"
)

// markup is HTML: constants of this package, and what text makes of anything else.
// It stands in for html/template, which calls methods by names it finds at run time, so
// that the linker has to keep every method of the whole program.
type markup string

func text(v any) markup { return markup(html.EscapeString(fmt.Sprint(v))) }

// when is yes if the condition holds, else nothing.
func when(condition bool, yes markup) markup {
	if condition {
		return yes
	}
	return ""
}

// link is an anchor if address is one of the web, else the text alone: pages must not
// link to scripts.
func link(address, shown string) markup {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return text(shown)
	}
	return `<a href="` + text(address) + `" rel="noreferrer">` + text(shown) + `</a>`
}

// rows is one row of a table for each item; each cell comes with its td.
func rows[T any](items []T, row func(T) markup) markup {
	var b strings.Builder
	for _, item := range items {
		b.WriteString("<tr>" + string(row(item)) + "</tr>\n")
	}
	return markup(b.String())
}

func cell(content markup) markup { return "<td>" + content + "</td>" }

//go:embed page.css
var style markup

// document is a whole page.
func document(title string, head, body markup) markup {
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
` + head + `<title>` + text(title) + `</title>
<style>
` + style + `</style>
</head>
<body>
` + body + `</body>
</html>
`
}
