package config

import (
	"regexp"
	"strings"
)

var (
	userInfo    = regexp.MustCompile(`[^\s/@,]+:[^\s/@,]*@`)
	keyText     = regexp.MustCompile(`(?s)-----BEGIN.*|[A-Za-z0-9+/=]{64,}`) // PEM, also without its first line
	secretQuery = regexp.MustCompile(`(?i)([\w-]*(?:password|secret|token|key)[\w-]*=)[^&\s]+`)
)

const (
	hidden   = "(hidden value)"
	maxShown = 80
)

// isSecret tells whether the value under a key must never be shown.
func isSecret(key string) bool {
	key = uniform(key)
	for _, word := range []string{"password", "passwd", "secret", "token", "credential", "authorization", "apikey", "privatekey"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return strings.HasPrefix(key, uniform("management.otlp.")) && strings.Contains(key, ".headers.") // tokens, whatever they are called
}

// quote gives the value for a message. What came out of a placeholder is shown as the
// placeholder, since it may be anything.
func (n *node) quote() string {
	text := n.text
	if n.raw != "" {
		text = n.raw
	}
	if n.secret {
		return hidden
	}
	return `"` + redact(text) + `"`
}

const mask = "******"

// masked gives n without its secrets: values that a secret name stands above or that a
// placeholder with such a name brought in, and the passwords of URLs.
func (n *node) masked() *node {
	c := *n
	switch {
	case n.kind == scalar && n.text != "" && (n.secret || isSecret(n.raw)):
		c.text = mask
	case n.kind == scalar:
		c.text = userInfo.ReplaceAllString(n.text, mask+"@")
	}
	c.items = make([]*node, len(n.items))
	for i, item := range n.items {
		c.items[i] = item.masked()
	}
	c.fields = make([]field, len(n.fields))
	for i, f := range n.fields {
		c.fields[i] = field{f.name, f.value.masked(), f.at}
	}
	return &c
}

// redact hides credentials in URLs and keys, and cuts long text.
func redact(text string) string {
	text = keyText.ReplaceAllString(text, "***")
	text = userInfo.ReplaceAllString(text, "***@")
	text = secretQuery.ReplaceAllString(text, "${1}***")
	text = strings.Map(printable, text)
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return text
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}
